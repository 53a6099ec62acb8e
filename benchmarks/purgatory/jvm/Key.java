// SPDX-License-Identifier: MIT

import org.apache.kafka.server.purgatory.DelayedOperationKey;

/** A name such as "topic-00000042"; its hash is cached, as that of a String. */
final class Key implements DelayedOperationKey {
    private final String name;

    static Key[] create(int count) {
        Key[] keys = new Key[count];
        for (int i = 0; i < count; i++)
            keys[i] = new Key(String.format("topic-%08d", i));
        return keys;
    }

    private Key(String name) {
        this.name = name;
    }

    @Override
    public String keyLabel() {
        return name;
    }

    @Override
    public boolean equals(Object other) {
        return this == other || other instanceof Key && name.equals(((Key) other).name);
    }

    @Override
    public int hashCode() {
        return name.hashCode();
    }
}
