/** Which names may stand behind these words of a command line; none where it takes others. */
export async function namesFor([command, action]: readonly string[]): Promise<string[]> {
  if (command === "trigger" || command === "events") {
    const { EVENT_NAMES } = await import("../engine/resources/events.ts");
    return [...EVENT_NAMES];
  }
  if (command === "explain") {
    const { API } = await import("../engine/resources/index.ts");
    return API.operations.map(({ id }) => id);
  }
  if (command === "scenario" && (action === "on" || action === "off")) {
    const [{ ScenarioLibrary, scenarioFolders }, { API }, { ownScenarios }] = await Promise.all([
      import("../documents/scenario-library.ts"),
      import("../engine/resources/index.ts"),
      import("./own-scenarios.ts"),
    ]);
    const library = new ScenarioLibrary({ api: API, folders: scenarioFolders(ownScenarios(undefined)) });
    return [...library.names()];
  }
  return [];
}
