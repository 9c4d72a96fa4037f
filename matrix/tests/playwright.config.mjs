const executablePath = process.env.PLAYWRIGHT_CHROMIUM_EXECUTABLE_PATH;
export default { use: { launchOptions: executablePath ? { executablePath } : {} } };
