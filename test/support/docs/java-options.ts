/** Options for short Java programs, which end before the optimizing compiler would pay off. */
export const FAST_START = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];
