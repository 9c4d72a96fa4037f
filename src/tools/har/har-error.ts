/** A file is no archive that can be read; the message is one sentence that says what to do. */
export class HarError extends Error {}
