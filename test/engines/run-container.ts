import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { callEngine, engineJson } from './call-engine.ts';

/** What these tests read of a container. */
export interface ContainerState {
  readonly State: { readonly Running: boolean };
  readonly NetworkSettings: {
    readonly IPAddress: string;
    readonly Ports: Record<string, readonly { readonly HostPort: string }[] | null>;
    readonly Networks: Record<string, { readonly IPAddress: string }>;
  };
}

/** What one suite makes on an engine: known by a label, so that it can be cleared away, and nothing else is. */
export function createRun(socket: string) {
  const id = randomBytes(4).toString('hex');
  const labels = { 'twofold-test.run': id };
  return {
    labels,
    label: `twofold-test.run=${id}`,
    /** For a network or an image of this run. */
    name: `twofold-test-${id}`,
    start: (image: string, more: Record<string, unknown> = {}) =>
      runContainer(socket, { Image: image, Labels: labels, ...more }),
    clear: () => removeAll(socket, labels),
  };
}

/** Makes and starts a container; returns its id. */
export async function runContainer(
  socket: string,
  settings: Record<string, unknown>,
): Promise<string> {
  const { Id } = await engineJson<{ Id: string }>(socket, {
    method: 'POST',
    path: '/containers/create',
    json: settings,
  });
  await engineJson(socket, { method: 'POST', path: `/containers/${Id}/start` });
  return Id;
}

/** What the engine knows about a container. */
export function inspect(socket: string, id: string): Promise<ContainerState> {
  return engineJson<ContainerState>(socket, { path: `/containers/${id}/json` });
}

/** All that a container has printed. Each piece comes behind eight bytes: which stream, three zeros, its length. */
export async function readLogs(socket: string, id: string): Promise<string> {
  const { bytes } = await callEngine(socket, { path: `/containers/${id}/logs?stdout=1&stderr=1` });
  const pieces: Buffer[] = [];
  for (let at = 0; at + 8 <= bytes.length;) {
    const end = at + 8 + bytes.readUInt32BE(at + 4);
    pieces.push(bytes.subarray(at + 8, end));
    at = end;
  }
  return Buffer.concat(pieces).toString();
}

/** The body at an address, asked for again until the server listens. */
export async function fetchText(url: string, seconds = 10): Promise<string> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    try {
      const answer = await fetch(url, { signal: AbortSignal.timeout(2000) });
      return await answer.text();
    } catch (error) {
      if (Date.now() > deadline)
        throw new Error(`no answer from ${url} in ${seconds} s`, { cause: error });
      await sleep(50);
    }
  }
}

/** Removes the containers, images and networks that carry these labels. */
async function removeAll(socket: string, labels: Record<string, string>): Promise<void> {
  const label = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  const filters = `filters=${encodeURIComponent(JSON.stringify({ label }))}`;
  for (const [kind, list] of [
    ['containers', '/json'],
    ['images', '/json'],
    ['networks', ''],
  ] as const) {
    const found = await engineJson<{ Id: string }[]>(socket, {
      path: `/${kind}${list}?all=1&${filters}`,
    });
    for (const { Id } of found)
      await callEngine(socket, { method: 'DELETE', path: `/${kind}/${Id}?force=1&v=1` });
  }
}
