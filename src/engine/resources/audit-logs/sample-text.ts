/** Names for those whom an organization's log tells of and who are gone, or are kept nowhere else. */
export const FORMER_PEOPLE = ["Nora Blum", "Theo Marsh", "Ines Duarte", "Oskar Lind", "Mei Tan", "Raul Vega"];
export const FORMER_DEPARTMENTS = ["Support", "Design", "Research", "Legal", "Finance", "Field Service"];
export const CUSTOM_ROLES = ["Auditor", "Editor", "Reviewer", "Publisher", "Trainer"];
export const FORMER_STORES = ["Handbook", "Contracts", "Support archive", "Release notes"];
export const SLICES = ["Onboarding", "Price lists", "Incident reports", "Travel policy"];
export const COMPOSITES = ["Company knowledge", "Sales kit", "Service desk"];
export const PERMISSIONS = ["report-create", "store-manage", "member-invite"];

/** What departments were said to be before somebody wrote it better. */
export const EARLIER_DESCRIPTIONS = ["To be described.", "Being set up.", "See the handbook.", "Draft."];
