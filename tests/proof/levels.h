/* SPDX-License-Identifier: MIT */
/* levels.h - how the windows of neighbouring levels of a wheel meet; WP proves it. */
/*@ lemma reach_is_in_window{L}: \forall struct htw_wheel *wheel, integer i, deadline;
        has_shape(wheel) && 0 <= i < wheel->level_max && 0 <= wheel->clock <= deadline <= UINT64_MAX &&
        deadline - wheel->clock <= wheel->levels[i].reach ==>
        in_window(wheel->clock, deadline, wheel->levels[i].shift, wheel->mask);
    lemma width_is_below_window{L}: \forall struct htw_wheel *wheel, integer i, deadline;
        has_shape(wheel) && 0 < i < wheel->level_max && 0 <= wheel->clock <= deadline <= UINT64_MAX &&
        deadline - wheel->clock >= wheel->levels[i].width ==>
        !in_window(wheel->clock, deadline, wheel->levels[i - 1].shift, wheel->mask);
    lemma width_is_at_most_reach{L}: \forall struct htw_wheel *wheel, integer i;
        has_shape(wheel) && 0 <= i < wheel->level_max ==> wheel->levels[i].width <= wheel->levels[i].reach;
    lemma reach_is_below_window{L}: \forall struct htw_wheel *wheel, integer i, deadline;
        has_shape(wheel) && 0 < i < wheel->level_max && 0 <= wheel->clock <= deadline <= UINT64_MAX &&
        deadline - wheel->clock >= wheel->levels[i].reach ==>
        !in_window(wheel->clock, deadline, wheel->levels[i - 1].shift, wheel->mask); */
