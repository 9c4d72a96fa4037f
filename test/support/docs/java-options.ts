/** Of a Java that ends before what it would learn about the program pays. */
export const FAST_START = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];
