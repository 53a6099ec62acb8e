// SPDX-License-Identifier: MIT

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The command line: options that have a value, and flags. */
final class Arguments {
    private final Map<String, String> given = new HashMap<>();

    Arguments(String[] arguments, List<String> options, List<String> flags) {
        for (int i = 0; i < arguments.length; i++) {
            String name = arguments[i];
            if (flags.contains(name))
                given.put(name, "");
            else if (!options.contains(name))
                throw wrong("no such option: " + name);
            else if (i + 1 == arguments.length)
                throw wrong(name + " lacks its value");
            else
                given.put(name, arguments[++i]);
        }
    }

    /** Ends the process: the command line is wrong. */
    static RuntimeException wrong(String what) {
        System.err.println("Bench: " + what);
        System.exit(2);
        return new IllegalArgumentException(what);
    }

    boolean has(String flag) {
        return given.containsKey(flag);
    }

    /** The value, which must be one of these. */
    String name(String option, List<String> names) {
        String value = given.getOrDefault(option, "");
        if (!names.contains(value))
            throw wrong(option + ": not one of " + names + ": " + value);
        return value;
    }

    /** A number above 0. */
    double number(String option, double usual) {
        String value = given.get(option);
        if (value == null)
            return usual;
        try {
            double number = Double.parseDouble(value);
            if (number > 0 && number <= 1e9)
                return number;
        } catch (NumberFormatException wrong) {
            // as a number that is out of range
        }
        throw wrong(option + ": not a number above 0: " + value);
    }

    int whole(String option, int usual) {
        double number = number(option, usual);
        if (number != (int) number)
            throw wrong(option + ": not a whole number: " + number);
        return (int) number;
    }
}
