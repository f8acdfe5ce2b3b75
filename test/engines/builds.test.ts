import { afterAll, beforeAll, expect, it } from 'vitest';
import { archiveOf } from './archive.ts';
import { describeEachEngine } from './available.ts';
import { callEngine } from './call-engine.ts';
import { importImage } from './import-image.ts';
import { createRun, fetchText, inspect, readLogs } from './run-container.ts';

describeEachEngine('a build', ({ kind, socket }) => {
  const { name, label, start, clear } = createRun(socket);

  beforeAll(async () => {
    await importImage(socket, 'twofold-test/web:1');
    await importImage(socket, 'twofold-test/node:1');
  });

  afterAll(clear);

  async function build(image: string, files: Record<string, string>): Promise<string> {
    // The label is inherited by what lies between, so that all of it is cleared away.
    const Dockerfile = files.Dockerfile?.replace(/\n/, `\nLABEL ${label}\n`) ?? '';
    const path = `/build?t=${image}&forcerm=1&${privateNetwork(kind)}`;
    const { text } = await callEngine(socket, {
      method: 'POST',
      path,
      tar: archiveOf({ ...files, Dockerfile }),
    });
    expect(text).not.toContain('"error"');
    return image;
  }

  it('makes an image that runs', async () => {
    const image = await build(`localhost/${name}:1`, {
      Dockerfile: 'FROM twofold-test/web:1\nRUN echo built > /www/index.html\n',
    });
    const { NetworkSettings } = await inspect(socket, await start(image));
    expect(await fetchText(`http://${NetworkSettings.IPAddress}:8080/`)).toBe('built\n');
  });

  it("reaches the npm registry, and not the machine's own network", async () => {
    const Dockerfile =
      'FROM twofold-test/node:1\nCOPY package.json .\nRUN npm install && ip -o link | wc -l > links\n';
    const image = await build(`localhost/${name}:2`, {
      Dockerfile,
      'package.json': '{"dependencies":{"ms":"2.1.3"}}',
    });
    const script =
      'console.log(require("ms")("2 days"), Number(require("fs").readFileSync("links")))';
    const id = await start(image, { Cmd: ['node', '-e', script] });
    await expect.poll(() => readLogs(socket, id), { timeout: 10_000 }).toContain('172800000 2');
  });
});

/** Podman 4.3 builds in the machine's own network, whatever `networkmode` says, unless it is told in its own words. */
function privateNetwork(kind: 'docker' | 'podman'): string {
  return kind === 'podman'
    ? `nsoptions=${encodeURIComponent('[{"Name":"network","Host":false}]')}`
    : '';
}
