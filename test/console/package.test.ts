import { gunzipSync } from 'node:zlib';
import { auth } from '@twofold/auth';
import { createServer, ifInstalled } from '@twofold/runtime';
import { readProject } from '@twofold/schema';
import { expect, it } from 'vitest';
import { packPackages } from '../../generator/packages/pack.ts';

/** The text of a file of an archive. */
function fileOf(archive: Buffer, name: string): string {
  const at = archive.indexOf(`package/${name}\0`);
  const size = Number.parseInt(archive.subarray(at + 124, at + 135).toString(), 8);
  return archive.subarray(at + 512, at + 512 + size).toString();
}

it('the package of the console is prebuilt, below 600 kB, and depends on nothing at run time', async () => {
  const packed = (await packPackages()).find(({ name }) => name.startsWith('twofold-console-'))!;
  expect(packed.bytes.length).toBeLessThanOrEqual(600_000);
  const archive = gunzipSync(packed.bytes);
  const { dependencies, peerDependencies } = JSON.parse(fileOf(archive, 'package.json')) as Record<
    string,
    object
  >;
  expect(dependencies).toEqual({});
  expect(Object.keys(peerDependencies!).sort()).toEqual(['@twofold/runtime', '@twofold/schema']);
  expect(fileOf(archive, 'dist/index.html')).toContain('<script type="module"');
});

it('where it is not installed, the server starts, logs one error, and answers 503 with the command', async () => {
  const { project } = readProject({
    schema: [{ file: 'schema.graphql', text: 'type Query { a: Int }' }],
    manifest: { file: 'manifest.yaml', text: 'name: shop\nauth: {}\nconsole: { path: /ops }\n' },
  });
  const left = await ifInstalled(
    '@twofold/console',
    () => Promise.reject(missing('@twofold/console')),
    project!.console!,
  );
  const logs: string[] = [];
  const { url, close } = await createServer({
    project: project!,
    capabilities: [auth(), left],
  }).start('127.0.0.1:0', {
    env: { DATABASE_URL: ':memory:', JWT_SECRET: 'a secret of the tests that is long enough' },
    logTo: { write: (line: string) => void logs.push(line) },
  });
  const page = await fetch(`${url}/ops/data`);
  expect([page.status, await page.json()]).toEqual([
    503,
    { error: '@twofold/console is not installed: npm install --include=dev' },
  ]);
  expect((await fetch(`${url}/opsx`)).status).toBe(404);
  // Guards are those of auth, which is there.
  expect((await fetch(`${url}/api/system/audit`)).status).toBe(401);
  expect(logs.filter((line) => line.includes('"level":50'))).toHaveLength(1);
  await close();
});

it('a package that is there and broken stops the start', async () => {
  const load = () => Promise.reject(missing('@twofold/other'));
  await expect(
    ifInstalled('@twofold/console', load, { path: '/console', enabled: 'always' }),
  ).rejects.toThrow('@twofold/other');
});

const missing = (name: string) =>
  Object.assign(new Error(`Cannot find package '${name}' imported from app.ts`), {
    code: 'ERR_MODULE_NOT_FOUND',
  });
