import { beforeAll, describe, expect, it } from 'vitest';
import { packPackages } from '../../generator/packages/pack.ts';
import { createTarball } from '../../generator/packages/tarball.ts';
import { findInContents } from '../../release/checks/contents.ts';
import { findInTypes } from '../../release/checks/types.ts';
import { findWithPublint } from '../../release/checks/with-publint.ts';
import { type Pack, readPack } from '../../release/read-pack.ts';
import { serveRegistry } from '../../release/registry.ts';
import { root } from '../source-files.ts';

let packs: readonly Pack[];
beforeAll(async () => {
  packs = (await packPackages()).map(readPack);
});

/** A pack with other files than it has: null takes one away. */
function changed(name: string, files: Readonly<Record<string, string | null>>): Pack {
  const pack = packs.find(({ manifest }) => manifest.name === name) as Pack;
  const kept = pack.files.filter(({ path }) => !(path in files));
  const added = Object.entries(files).flatMap(([path, text]) =>
    text === null ? [] : [{ path, bytes: Buffer.from(text) }],
  );
  return readPack({ name: pack.file, bytes: createTarball([...kept, ...added]) });
}

describe('the packs', () => {
  it('are those of every package that a project can ask for', () => {
    const names = ['auth', 'console', 'generator', 'hosting', 'models', 'runtime', 'schema'];
    expect(packs.map(({ manifest }) => manifest.name)).toEqual([
      'create-twofold',
      ...names.map((name) => `@twofold/${name}`),
    ]);
  });

  it('hold what a package has to, and nothing of this machine', () => {
    expect(packs.flatMap(findInContents)).toEqual([]);
  });

  it('are right for publint and are-the-types-wrong', async () => {
    for (const pack of packs)
      expect([...(await findWithPublint(pack)), ...(await findInTypes(pack))]).toEqual([]);
  });

  it('lead from JavaScript to readable TypeScript', () => {
    const runtime = packs.find(({ manifest }) => manifest.name === '@twofold/runtime');
    const map = runtime?.files.find(({ path }) => path === 'http/body.js.map');
    expect(JSON.parse(String(map?.bytes))).toMatchObject({
      sources: ['body.ts'],
      sourcesContent: [expect.stringContaining('export function jsonBody(')],
    });
  });

  it('have programs that run as processes of their own beside the modules that start them', () => {
    const programs = {
      runtime: ['store/sqlite-worker.js'],
      hosting: ['ingress/process.js', 'source/static/server.js'],
      models: ['llamacpp/program.js', 'engine/child-supervisor.js'],
    };
    for (const [name, wanted] of Object.entries(programs)) {
      const pack = packs.find(({ manifest }) => manifest.name === `@twofold/${name}`);
      const paths = pack?.files.map(({ path }) => path) ?? [];
      expect(wanted.filter((path) => !paths.includes(path))).toEqual([]);
    }
  });

  it('leave dependencies outside, in the versions that the tests ran with', () => {
    const runtime = packs.find(({ manifest }) => manifest.name === '@twofold/runtime');
    expect(runtime?.manifest.dependencies).toMatchObject({ koa: '3.3.0', graphql: '17.1.0' });
    expect(runtime?.files.filter(({ path }) => path.includes('node_modules'))).toEqual([]);
  });
});

describe('what is wrong with a pack', () => {
  it('is found in its files', () => {
    const wrong = changed('@twofold/schema', {
      LICENSE: null,
      'index.js.map': null,
      'run.ts': 'export {};',
      'place.js': `export const place = '${root}schema';`,
    });
    expect(findInContents(wrong).sort()).toEqual([
      '@twofold/schema has no LICENSE',
      '@twofold/schema has no map of index.js',
      '@twofold/schema names a folder of this machine in place.js',
      '@twofold/schema ships run.ts, which Node does not run',
    ]);
  });

  it('is found in its exports and types', async () => {
    const wrong = changed('@twofold/schema', { 'index.js': null, 'index.d.ts': null });
    expect((await findWithPublint(wrong)).join('\n')).toContain('does not exist');
    expect((await findInTypes(wrong)).length).toBeGreaterThan(0);
  });
});

describe('the registry of the dry run', () => {
  it('has a document and a tarball for each pack, and nothing else', async () => {
    const registry = await serveRegistry(packs);
    try {
      const [pack] = packs as [Pack, ...Pack[]];
      const { name, version } = pack.manifest;
      const read = await fetch(registry.url + name.replace('/', '%2f'));
      const document = (await read.json()) as Record<string, any>;
      const { tarball, integrity } = document['versions'][version].dist;
      expect(document['dist-tags']).toEqual({ latest: version });
      expect(integrity).toMatch(/^sha512-/);
      expect(Buffer.from(await (await fetch(tarball)).arrayBuffer()).equals(pack.bytes)).toBe(true);
      expect((await fetch(`${registry.url}koa`)).status).toBe(404);
    } finally {
      await registry.close();
    }
  });
});
