/** What provider_b makes (4.20). */
export const SIZES = ["1024x1024", "1024x1536", "1536x1024"] as const;
