import fc from "fast-check";

// Property tests use the same examples in every run, so that a failure can be repeated. PROPERTY_SEED=N or
// PROPERTY_SEED=random uses other examples; fast-check prints the seed of a failure.
const seed = process.env.PROPERTY_SEED ?? "20261121";
if (seed !== "random") fc.configureGlobal({ seed: Number(seed) });
