export declare function findBrowser(): Promise<string | undefined>;
export declare function whyNone(): string;
