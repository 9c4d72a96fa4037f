export default { testMatch: ["**/*.test.mjs"], transform: {}, testTimeout: 30_000 };
