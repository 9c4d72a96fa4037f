export function buildConsole(options: { ifStale: boolean }): Promise<void>;
