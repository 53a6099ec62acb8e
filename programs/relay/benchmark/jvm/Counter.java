// SPDX-License-Identifier: MIT

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Counts what arrives in a topic, by Kafka's own client library and with isolation.level=read_committed: how
 * many records, how many twice, and how late. A record is what htw-bench-relay sends: its number as the key,
 * and the instant at which it is wanted at the start of the value. It arrives when this program has it.
 *
 * Commands, one a line. "figures" answers with JSON: counts since the beginning, and how late records were
 * since the last "figures" (recent) and since the last "start" (all). "start" answers the same. "ends TOPIC"
 * answers with the sum of the end offsets of a topic. usage: Counter BOOTSTRAP TOPIC
 */
final class Counter {
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final BitSet seen = new BitSet();
    private long records;
    private long twice;
    private Histogram recent = new Histogram();
    private Histogram all = new Histogram();

    public static void main(String[] arguments) throws Exception {
        Counter counter = new Counter(arguments[0], arguments[1]);
        Thread thread = new Thread(counter::read);
        thread.setDaemon(true);
        thread.start();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (KafkaConsumer<byte[], byte[]> asking = consumer(arguments[0])) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String[] words = line.split(" ");
                System.out.println(words[0].equals("ends") ? Long.toString(ends(asking, words[1]))
                    : counter.figures(words[0].equals("start")));
            }
        }
        System.exit(0);
    }

    private Counter(String bootstrap, String topic) {
        consumer = consumer(bootstrap);
        List<TopicPartition> partitions = partitions(consumer, topic);
        consumer.assign(partitions);
        consumer.seekToBeginning(partitions);
    }

    private static KafkaConsumer<byte[], byte[]> consumer(String bootstrap) {
        return new KafkaConsumer<>(
            Map.of("bootstrap.servers", bootstrap, "isolation.level", "read_committed",
                "enable.auto.commit", "false", "max.poll.records", "10000"),
            new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private static List<TopicPartition> partitions(KafkaConsumer<byte[], byte[]> consumer, String topic) {
        return consumer.partitionsFor(topic).stream()
            .map(info -> new TopicPartition(info.topic(), info.partition())).collect(Collectors.toList());
    }

    private static long ends(KafkaConsumer<byte[], byte[]> consumer, String topic) {
        return consumer.endOffsets(partitions(consumer, topic)).values().stream()
            .mapToLong(Long::longValue).sum();
    }

    private void read() {
        try {
            while (true) {
                var batch = consumer.poll(Duration.ofMillis(100));
                long now = System.currentTimeMillis();
                synchronized (this) {
                    for (ConsumerRecord<byte[], byte[]> record : batch) {
                        count(record, now);
                    }
                }
            }
        } catch (Throwable error) { // or the benchmark would wait for records for ever
            error.printStackTrace();
            System.exit(1);
        }
    }

    private void count(ConsumerRecord<byte[], byte[]> record, long now) {
        int number = (int) ByteBuffer.wrap(record.key()).getLong();
        long wanted = ByteBuffer.wrap(record.value()).getLong();
        records++;
        if (seen.get(number)) {
            twice++;
        }
        seen.set(number);
        recent.record((now - wanted) * 1_000_000);
        all.record((now - wanted) * 1_000_000);
    }

    private synchronized String figures(boolean isStart) {
        String text = String.format(Locale.ROOT,
            "{\"now_ms\":%d,\"records\":%d,\"twice\":%d,\"recent\":%s,\"all\":%s}",
            System.currentTimeMillis(), records, twice, json(recent), json(all));
        recent = new Histogram();
        if (isStart) {
            all = new Histogram();
        }
        return text;
    }

    private static String json(Histogram late) {
        return String.format(Locale.ROOT,
            "{\"early\":%d,\"p50_ms\":%.1f,\"p99_ms\":%.1f,\"p99.9_ms\":%.1f,\"max_ms\":%.1f}", late.early(),
            late.quantileNs(0.5) / 1e6, late.quantileNs(0.99) / 1e6, late.quantileNs(0.999) / 1e6,
            late.maxNs() / 1e6);
    }
}
