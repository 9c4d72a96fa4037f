export const STORE_NAMES = [
  "Employee handbook",
  "Product knowledge",
  "Support articles",
  "Sales playbook",
  "Security policies",
  "Research notes",
  "Contracts",
];
