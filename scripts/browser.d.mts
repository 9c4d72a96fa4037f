export declare function findBrowser(): Promise<string | undefined>;
export declare function explainMissingBrowser(): string;
