import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { BUILD_FOLDER, packPackages } from '../../generator/packages/pack.ts';
import { createTarball } from '../../generator/packages/tarball.ts';
import { findInContents } from '../../release/checks/contents.ts';
import { findInTypes } from '../../release/checks/types.ts';
import { findWithPublint } from '../../release/checks/with-publint.ts';
import { keepPacks, samePacks } from '../../release/keep.ts';
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
    const names = [
      'auth',
      'console',
      'database',
      'generator',
      'hosting',
      'models',
      'runtime',
      'schema',
    ];
    expect(packs.map(({ manifest }) => manifest.name)).toEqual([
      'create-twofold',
      ...names.map((name) => `@twofold/${name}`),
    ]);
  });

  it('hold what a package has to, and nothing of this machine', () => {
    expect(packs.flatMap(findInContents)).toEqual([]);
  });

  it('lead from JavaScript to readable TypeScript', () => {
    const runtime = packs.find(({ manifest }) => manifest.name === '@twofold/runtime');
    const maps = runtime?.files.filter(({ path }) => path.endsWith('.js.map')) ?? [];
    const map = maps
      .map(
        ({ bytes }) => JSON.parse(String(bytes)) as { sources: string[]; sourcesContent: string[] },
      )
      .find(({ sources }) => sources.some((source) => source.endsWith('http/body.ts')));
    const place = map?.sources.findIndex((source) => source.endsWith('http/body.ts')) ?? -1;
    expect(map?.sourcesContent[place]).toContain('export function jsonBody(');
  });

  it('have the schema in one file for each of its exports', () => {
    const schema = packs.find(({ manifest }) => manifest.name === '@twofold/schema');
    const scripts = schema?.files.filter(({ path }) => path.endsWith('.js')) ?? [];
    expect(scripts.map(({ path }) => path).sort()).toEqual([
      'index.js',
      'mcp/index.js',
      'shapes/index.js',
    ]);
    const imported = scripts.flatMap(({ bytes }) =>
      [...String(bytes).matchAll(/^import .* from "(.*)";$/gm)].map(([, from]) => from),
    );
    expect([...new Set(imported)].sort()).toEqual(['graphql', 'node:module']);
    const map = schema?.files.find(({ path }) => path === 'index.js.map');
    const { sources, sourcesContent } = JSON.parse(String(map?.bytes));
    expect(sourcesContent[sources.indexOf('read-project.ts')]).toContain(
      'export function readProject(',
    );
  });

  it.each(['runtime', 'auth', 'schema'])(
    'have the modules of %s joined into files that import its dependencies alone',
    (name) => {
      const pack = packs.find(({ manifest }) => manifest.name === `@twofold/${name}`)!;
      const scripts = pack.files.filter(
        ({ path }) => path.endsWith('.js') && !path.includes('browser/'),
      );
      expect(scripts.length).toBeLessThan(80);
      const imported = scripts.flatMap(({ bytes }) =>
        [
          ...String(bytes).matchAll(/^import (?:.* from )?"((?:@[^/"]+\/)?[^./"][^/"]*).*";$/gm),
        ].map(([, from]) => from),
      );
      const { dependencies, peerDependencies } = pack.manifest as Record<string, object>;
      const known = Object.keys({ ...dependencies, ...peerDependencies });
      const own = imported.filter((from) => !from?.startsWith('node:'));
      expect(own.length).toBeGreaterThan(0);
      expect([...new Set(own)].filter((from) => !known.includes(from as string))).toEqual([]);
    },
  );

  it('have programs that run as processes of their own beside the modules that start them', () => {
    const programs = {
      runtime: ['store/sqlite/sqlite-worker.js'],
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
      'built.d.ts': `/// <reference path="${BUILD_FOLDER}Ab3dEf/js/index.d.ts" />`,
    });
    expect(findInContents(wrong).sort()).toEqual([
      '@twofold/schema has no LICENSE',
      '@twofold/schema has no map of index.js',
      '@twofold/schema names a folder of this machine in built.d.ts',
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

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: {
    readonly publish: {
      readonly steps: readonly { readonly name?: string; readonly run: string }[];
    };
  };
}

describe('the workflow that publishes', () => {
  const text = readFileSync(join(root, '.github/workflows/release.yml'), 'utf8');
  const { permissions, jobs } = parse(text) as Workflow;
  const script = jobs.publish.steps.find(({ name }) => name?.startsWith('Publish'))?.run ?? '';

  it('has the permission to prove who it is, and no token', () => {
    expect(permissions).toEqual({ contents: 'read', 'id-token': 'write' });
    expect(text).not.toMatch(/NODE_AUTH_TOKEN|secrets\./);
  });

  it('publishes each pack that the registry does not have yet, by the words of npm', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'twofold-publish-'));
    mkdirSync(join(folder, 'packs'));
    for (const { file, bytes } of packs) writeFileSync(join(folder, 'packs', file), bytes);
    const left = ['@twofold/runtime', 'create-twofold'];
    const registry = await serveRegistry(
      packs.filter(({ manifest }) => !left.includes(manifest.name)),
    );
    const { version } = packs[0]!.manifest;
    const env = {
      ...process.env,
      GITHUB_REF_NAME: `v${version}`,
      NPM_CONFIG_REGISTRY: registry.url,
      NPM_CONFIG_DRY_RUN: 'true',
    };
    try {
      const { stdout } = await promisify(execFile)('bash', ['-ec', script], { cwd: folder, env });
      expect(stdout.trim().split('\n')).toEqual(left.map((name) => `+ ${name}@${version}`));
    } finally {
      await registry.close();
      rmSync(folder, { recursive: true });
    }
  });
});

describe('the packs that are kept of a release', () => {
  it('are those of the sources, or the release says that they are not', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'twofold-kept-'));
    const small = /^(create-twofold|twofold-schema)-/;
    const built = (await packPackages()).filter(({ name }) => small.test(name));
    expect(await samePacks(built, folder)).toBe(false);
    await keepPacks(built, folder);
    expect(await samePacks(built, folder)).toBe(true);
    const other = changed('@twofold/schema', { 'names.js': 'export {};\n' });
    const older = built.map((each) =>
      each.name === other.file ? { ...each, bytes: other.bytes } : each,
    );
    expect(await samePacks(older, folder)).toBe(false);
    rmSync(folder, { recursive: true });
  });
});
