// SPDX-License-Identifier: MIT
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AccessControlEntryFilter;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourcePatternFilter;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Client.java - what the tests of the relay do to Kafka, by Kafka's own client library.
 *
 * The relay is written with librdkafka. What it has done is judged by a library that shares no code with it.
 * Reads commands from standard input, one a line, and answers each with a line "ok ..." or "error ...". One
 * process serves a whole test, as a JVM takes a second to start. usage: Client BOOTSTRAP
 *
 *   topic NAME PARTITIONS [CONFIG=VALUE]...  creates a topic; replicas as the broker's default says
 *   partitions NAME COUNT                    raises the number of partitions
 *   config NAME CONFIG=VALUE...              changes the configuration of a topic, and waits until it shows
 *   delete NAME                              deletes a topic
 *   trim NAME                                deletes all records of a topic
 *   deny NAME                                lets everybody see and read a topic, and nobody write to it
 *   permit NAME                              takes that back
 *   produce TOPIC COUNT FIRST AT SPREAD SIZE [HEADER=VALUE]...
 *        sends records FIRST, FIRST + 1, ... with the number as key, SIZE bytes of value that begin with it, and
 *        htw-deliver-at at random between AT and AT + SPREAD (ms since 1970; - for no such header)
 *   flood TOPIC COUNT AT SPREAD PREFIX       sends COUNT records with the keys bad-0, bad-1, ..., each for a topic of its own,
 *        PREFIX0, PREFIX1, ...
 *   topics                                   the names of all topics
 *   send TOPIC KEY VALUE [HEADER=VALUE]...   sends one record; - as KEY or VALUE is null
 *   sendto TOPIC PARTITION KEY VALUE [HEADER=VALUE]...   the same, to a partition
 *   consume FILE committed|uncommitted TOPIC...
 *        writes a line for each record of these topics to FILE from now on: arrival (ms since 1970), topic,
 *        partition, offset, timestamp, key, length of the value, first 24 bytes of the value, headers as NAME=VALUE;
 *        separated by tabs
 *   count FILE                               the number of records so far
 *   finish FILE                              stops when all that is visible now was read; the number of records
 *   abandon                                  stops all that were not finished
 *   ends TOPIC                               the sum of what may be read: end offsets less begin offsets
 *   offsets GROUP                            the committed offsets, as TOPIC:PARTITION:OFFSET:METADATA ...
 *   members GROUP                            the members of a group, as NAME:PARTITIONS ...
 */
public final class Client {
    private static final Map<String, Reader> readers = new HashMap<>();
    private static String bootstrap;
    private static Admin admin;
    private static KafkaProducer<byte[], byte[]> producer;

    public static void main(String[] arguments) throws Exception {
        bootstrap = arguments[0];
        admin = Admin.create(Map.of("bootstrap.servers", bootstrap));
        producer = new KafkaProducer<>(Map.of(
            "bootstrap.servers", bootstrap, "acks", "all", "linger.ms", "5", "batch.size", "131072",
            "max.request.size", "8388608", "buffer.memory", "33554432"),
            new ByteArraySerializer(), new ByteArraySerializer());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String answer;
            try {
                answer = "ok " + command(line.split(" "));
            } catch (Exception error) {
                Throwable cause = error.getCause() != null ? error.getCause() : error;
                answer = "error " + cause.getClass().getSimpleName() + ": "
                    + String.valueOf(cause.getMessage()).replace('\n', ' ');
            }
            System.out.println(answer);
        }
        System.exit(0); // the readers are threads that go on otherwise
    }

    private static String command(String[] words) throws Exception {
        switch (words[0]) {
        case "topic":
            admin.createTopics(List.of(new NewTopic(words[1], Integer.parseInt(words[2]), (short) -1)
                .configs(pairs(words, 3)))).all().get();
            return "";
        case "partitions":
            admin.createPartitions(Map.of(words[1], NewPartitions.increaseTo(Integer.parseInt(words[2])))).all().get();
            return "";
        case "config":
            Collection<AlterConfigOp> changes = pairs(words, 2).entrySet().stream()
                .map(one -> new AlterConfigOp(new ConfigEntry(one.getKey(), one.getValue()), AlterConfigOp.OpType.SET))
                .collect(Collectors.toList());
            ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, words[1]);
            admin.incrementalAlterConfigs(Map.of(topic, changes)).all().get();
            while (!hasConfig(topic, changes)) { // brokers know it later
                Thread.sleep(20);
            }
            return "";
        case "delete":
            admin.deleteTopics(List.of(words[1])).all().get();
            return "";
        case "trim":
            try (KafkaConsumer<byte[], byte[]> consumer = consumer(true)) {
                admin.deleteRecords(partitions(consumer, List.of(words[1])).stream()
                    .collect(Collectors.toMap(Function.identity(), one -> RecordsToDelete.beforeOffset(-1)))).all().get();
            }
            return "";
        case "deny":
            // Who may read is allowed to see it; and what is not allowed is denied, as soon as something is.
            admin.createAcls(List.of(new AclBinding(
                new ResourcePattern(ResourceType.TOPIC, words[1], PatternType.LITERAL),
                new AccessControlEntry("User:*", "*", AclOperation.READ, AclPermissionType.ALLOW)))).all().get();
            return "";
        case "permit":
            admin.deleteAcls(List.of(new AclBindingFilter(
                new ResourcePatternFilter(ResourceType.TOPIC, words[1], PatternType.LITERAL),
                AccessControlEntryFilter.ANY))).all().get();
            return "";
        case "produce":
            return produce(words);
        case "flood":
            return flood(words[1], Long.parseLong(words[2]), Long.parseLong(words[3]), Integer.parseInt(words[4]), words[5]);
        case "topics":
            return String.join(" ", admin.listTopics().names().get());
        case "send":
            return send(words[1], null, words, 2);
        case "sendto":
            return send(words[1], Integer.valueOf(words[2]), words, 3);
        case "consume":
            Reader reader = new Reader(Path.of(words[1]), words[2].equals("committed"),
                Arrays.asList(words).subList(3, words.length));
            readers.put(words[1], reader);
            reader.start();
            return "";
        case "count":
            return String.valueOf(readers.get(words[1]).written());
        case "finish":
            return String.valueOf(readers.remove(words[1]).finish());
        case "abandon":
            for (Reader one : readers.values()) {
                one.abandoned = true;
            }
            readers.clear();
            return "";
        case "ends":
            try (KafkaConsumer<byte[], byte[]> consumer = consumer(true)) {
                List<TopicPartition> all = partitions(consumer, List.of(words[1]));
                long sum = consumer.endOffsets(all).values().stream().mapToLong(Long::longValue).sum();
                return String.valueOf(
                    sum - consumer.beginningOffsets(all).values().stream().mapToLong(Long::longValue).sum());
            }
        case "offsets":
            return admin.listConsumerGroupOffsets(words[1]).partitionsToOffsetAndMetadata().get().entrySet().stream()
                .map(one -> one.getKey().topic() + ":" + one.getKey().partition() + ":" + one.getValue().offset() + ":"
                    + one.getValue().metadata().replace(' ', '_'))
                .sorted().collect(Collectors.joining(" "));
        case "members":
            return admin.describeConsumerGroups(List.of(words[1])).all().get().get(words[1]).members().stream()
                .map(one -> one.groupInstanceId().orElse(one.consumerId()) + ":"
                    + one.assignment().topicPartitions().size())
                .sorted().collect(Collectors.joining(" "));
        default:
            throw new IllegalArgumentException("no such command: " + words[0]);
        }
    }

    private static boolean hasConfig(ConfigResource topic, Collection<AlterConfigOp> changes) throws Exception {
        Config config = admin.describeConfigs(List.of(topic)).all().get().get(topic);
        return changes.stream().map(AlterConfigOp::configEntry)
            .allMatch(wanted -> config.get(wanted.name()).value().equals(wanted.value()));
    }

    /** The words from `at` on are key, value and headers. */
    private static String send(String topic, Integer partition, String[] words, int at) throws Exception {
        ProducerRecord<byte[], byte[]> record =
            new ProducerRecord<>(topic, partition, bytes(words[at]), bytes(words[at + 1]));
        pairs(words, at + 2).forEach((name, value) -> record.headers().add(name, value.getBytes(StandardCharsets.UTF_8)));
        return String.valueOf(producer.send(record).get().offset());
    }

    private static String flood(String topic, long count, long at, int spread, String prefix) throws Exception {
        Random random = new Random(count);
        for (long i = 0; i < count; i++) {
            ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, bytes("bad-" + i), bytes("v"));
            record.headers().add("htw-deliver-at", bytes(Long.toString(at + random.nextInt(spread + 1))));
            record.headers().add("htw-deliver-to", bytes(prefix + i));
            producer.send(record);
        }
        producer.flush();
        return "";
    }

    /** Sends many records as fast as the broker takes them; all are acknowledged at the end. */
    private static String produce(String[] words) throws Exception {
        String topic = words[1];
        long count = Long.parseLong(words[2]);
        long first = Long.parseLong(words[3]);
        boolean timed = !words[4].equals("-");
        long at = timed ? Long.parseLong(words[4]) : 0;
        long spread = Long.parseLong(words[5]);
        int size = Integer.parseInt(words[6]);
        Map<String, String> headers = pairs(words, 7);
        AtomicReference<Exception> failure = new AtomicReference<>();
        Random random = new Random(first);
        long begin = System.nanoTime();
        for (long i = 0; i < count; i++) {
            byte[] key = Long.toString(first + i).getBytes(StandardCharsets.UTF_8);
            byte[] value = new byte[Math.max(size, key.length)];
            Arrays.fill(value, (byte) '.');
            System.arraycopy(key, 0, value, 0, key.length);
            ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, key, value);
            if (timed) {
                long deadline = at + (spread > 0 ? (long) (random.nextDouble() * spread) : 0);
                record.headers().add("htw-deliver-at", Long.toString(deadline).getBytes(StandardCharsets.UTF_8));
            }
            headers.forEach((name, text) -> record.headers().add(name, text.getBytes(StandardCharsets.UTF_8)));
            producer.send(record, (metadata, error) -> {
                if (error != null) {
                    failure.compareAndSet(null, error);
                }
            });
        }
        producer.flush();
        if (failure.get() != null) {
            throw failure.get();
        }
        return String.valueOf((System.nanoTime() - begin) / 1000000);
    }

    private static Map<String, String> pairs(String[] words, int from) {
        Map<String, String> map = new HashMap<>();
        for (int i = from; i < words.length; i++) {
            String[] pair = words[i].split("=", 2);
            map.put(pair[0], pair[1]);
        }
        return map;
    }

    private static byte[] bytes(String word) {
        return word.equals("-") ? null : word.getBytes(StandardCharsets.UTF_8);
    }

    private static KafkaConsumer<byte[], byte[]> consumer(boolean committed) {
        return new KafkaConsumer<>(Map.of(
            "bootstrap.servers", bootstrap, "enable.auto.commit", "false", "auto.offset.reset", "earliest",
            "isolation.level", committed ? "read_committed" : "read_uncommitted",
            "max.poll.records", "20000"),
            new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private static List<TopicPartition> partitions(KafkaConsumer<byte[], byte[]> consumer, Collection<String> topics) {
        return topics.stream().flatMap(topic -> consumer.partitionsFor(topic).stream())
            .map(info -> new TopicPartition(info.topic(), info.partition())).collect(Collectors.toList());
    }

    /** Reads topics from their beginning, all partitions, in no group, and writes what it sees. */
    private static final class Reader extends Thread {
        private final Path file;
        private final boolean committed;
        private final Collection<String> topics;
        private final AtomicReference<Exception> failure = new AtomicReference<>();
        private volatile boolean ending;
        private volatile boolean abandoned;
        private volatile long written;

        Reader(Path file, boolean committed, Collection<String> topics) {
            this.file = file;
            this.committed = committed;
            this.topics = new ArrayList<>(topics);
            setDaemon(true);
        }

        long written() throws Exception {
            if (failure.get() != null) {
                throw failure.get();
            }
            return written;
        }

        long finish() throws Exception {
            ending = true;
            join();
            return written();
        }

        @Override
        public void run() {
            try (KafkaConsumer<byte[], byte[]> consumer = consumer(committed);
                 PrintStream out = new PrintStream(Files.newOutputStream(file, StandardOpenOption.CREATE,
                     StandardOpenOption.TRUNCATE_EXISTING), false, StandardCharsets.UTF_8)) {
                List<TopicPartition> all = partitions(consumer, topics);
                consumer.assign(all);
                consumer.seekToBeginning(all);
                Map<TopicPartition, Long> end = null;
                while (!abandoned && (end == null || !reached(consumer, end))) {
                    if (ending && end == null) {
                        end = consumer.endOffsets(all);
                    }
                    long count = 0;
                    for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                        write(out, System.currentTimeMillis(), record);
                        count++;
                    }
                    if (count > 0) {
                        out.flush();
                        written += count;
                    }
                }
            } catch (Exception error) {
                failure.set(error);
            }
        }

        private static boolean reached(KafkaConsumer<byte[], byte[]> consumer, Map<TopicPartition, Long> end) {
            return end.entrySet().stream().allMatch(one -> consumer.position(one.getKey()) >= one.getValue());
        }

        private static void write(PrintStream out, long now, ConsumerRecord<byte[], byte[]> record) {
            StringBuilder line = new StringBuilder(160);
            line.append(now).append('\t').append(record.topic()).append('\t').append(record.partition()).append('\t')
                .append(record.offset()).append('\t').append(record.timestamp()).append('\t')
                .append(text(record.key(), 64)).append('\t')
                .append(record.value() == null ? -1 : record.value().length).append('\t')
                .append(text(record.value(), 24)).append('\t');
            for (Header header : record.headers()) {
                line.append(header.key()).append('=').append(text(header.value(), 200)).append(';');
            }
            out.append(line.append('\n'));
        }

        private static String text(byte[] bytes, int most) {
            if (bytes == null) {
                return "-";
            }
            return new String(bytes, 0, Math.min(bytes.length, most), StandardCharsets.UTF_8)
                .replace('\t', ' ').replace('\n', ' ');
        }
    }
}
