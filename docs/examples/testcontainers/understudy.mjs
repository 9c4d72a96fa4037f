// The image in a test. It needs testcontainers, this package, and `docker build -t understudy .` in the repository.
import { randomBytes } from "node:crypto";
import { GenericContainer, Wait } from "testcontainers";
import { connect } from "understudy-sandbox";

/** A server in a container, with its client; `stop` ends it. */
export async function startUnderstudy(image = "understudy") {
  const token = randomBytes(16).toString("hex");
  const container = await new GenericContainer(image)
    .withEnvironment({ UNDERSTUDY_TOKEN: token })
    .withExposedPorts(4747)
    .withWaitStrategy(Wait.forHealthCheck())
    .start();
  const client = connect(`http://${container.getHost()}:${container.getMappedPort(4747)}`, { token });
  return { client, stop: () => container.stop() };
}
