// SPDX-License-Identifier: MIT

import java.util.HashMap;
import java.util.Map;

/** The command line: "--name value", or "--name" alone. plan.py makes it. */
final class Arguments {
    private final Map<String, String> given = new HashMap<>();

    Arguments(String[] words) {
        for (int i = 0; i < words.length; i++) {
            boolean hasValue = i + 1 < words.length && !words[i + 1].startsWith("--");
            given.put(words[i], hasValue ? words[++i] : "");
        }
    }

    boolean has(String name) {
        return given.containsKey(name);
    }

    String text(String name) {
        return given.get(name);
    }

    double number(String name, double usual) {
        return has(name) ? Double.parseDouble(given.get(name)) : usual;
    }

    int whole(String name, int usual) {
        return has(name) ? Integer.parseInt(given.get(name)) : usual;
    }
}
