import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Program, query, run } from '../server/program.ts';
import { sourceFiles } from '../source-files.ts';
import { generator, linkPackages, makeProject, repo, type TestProject } from './project.ts';

const SCHEMA = `type Note {
  id: ID!
  text: String!
}

type Query {
  notes: [Note!]!
  refused: String
}
`;

/** Throws the error of a `graphql` that is not the runtime's own. */
const RESOLVERS = `import type * as types from '../generated/types.ts';

export const resolvers = {
  refused: async () => {
    const { GraphQLError } = await import('graphql');
    throw new GraphQLError('not today', { extensions: { code: 'NOT_TODAY' } });
  },
} satisfies types.QueryOverrides;
`;

/** A route that has to know media types, in what it is asked and what it answers. */
const ROUTES = `import type { Router } from '@twofold/runtime';

export function routes(router: Router): void {
  router.get('/picture', (ctx) => {
    ctx.type = ctx.accepts('html', 'png') === 'png' ? '.png' : '.html';
    ctx.body = 'a picture';
  });
}
`;

/** Serves, and says at its end which files it has loaded. */
const PROGRAM = `import { writeSync } from 'node:fs';
import { registerHooks } from 'node:module';
const loaded: string[] = [];
registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
process.once('exit', () => writeSync(1, 'loaded ' + JSON.stringify(loaded) + '\\n'));
await import('./src/server.ts');
`;

/** The first file of each package that a project imports. */
const SOURCES: Readonly<Record<string, string>> = {
  schema: 'schema/index.ts',
  runtime: 'runtime/core/index.ts',
  database: 'runtime/database/index.ts',
  auth: 'runtime/auth/index.ts',
  hosting: 'runtime/hosting/index.ts',
  models: 'runtime/models/index.ts',
};

describe('the packages as they are shipped', () => {
  let shop: TestProject;
  let packages: string;
  beforeAll(async () => {
    shop = makeProject({
      'schema.graphql': SCHEMA,
      'manifest.yaml': 'name: shop\n',
      'src/resolvers/Query.ts': RESOLVERS,
      'src/routes.ts': ROUTES,
    });
    linkPackages(shop);
    ownCopy(shop);
    packages = join(shop.root, 'node_modules/@twofold');
    expect(await generator(['generate'], shop.root)).toMatchObject({ code: 0 });
  });
  afterAll(() => shop.remove());

  const serve = () =>
    run(PROGRAM, { DATABASE_URL: ':memory:', PORT: '0', HOST: '127.0.0.1' }, shop.root);
  const ask = async <T>(program: Program, question: (url: string) => Promise<T>) => {
    try {
      return await question(await program.listening);
    } finally {
      program.process.kill('SIGTERM');
      await program.ended;
    }
  };
  const answer = (program: Program, text: string) => ask(program, (url) => query(url, text));
  const get = (program: Program, path: string, accept: string) =>
    ask(program, async (url) => {
      const response = await fetch(new URL(path, url), { headers: { accept } });
      return { type: response.headers.get('content-type'), text: await response.text() };
    });

  it.each(Object.entries(SOURCES))('%s exports what its sources export', async (name, index) => {
    const own = (await import(/* @vite-ignore */ pathToFileURL(join(repo, index)).href)) as object;
    const shipped = (await import(
      /* @vite-ignore */ pathToFileURL(join(packages, name, 'index.js')).href
    )) as object;
    expect(Object.keys(shipped).sort()).toEqual(Object.keys(own).sort());
  });

  it('read the page for browsers when a browser comes', async () => {
    const files = readdirSync(join(packages, 'runtime/dist'), { recursive: true }) as string[];
    const script = files.find((file) => file.startsWith('assets/explorer-')) ?? '';
    expect(await get(serve(), '/graphql', 'text/html')).toEqual({
      type: 'text/html; charset=utf-8',
      text: expect.stringContaining(`src="/graphql/${script}"`),
    });
    expect(await get(serve(), `/graphql/${script}`, '*/*')).toEqual({
      type: 'text/javascript; charset=utf-8',
      text: expect.stringContaining('Search types'),
    });
  });

  it('find the files beside a module from the file that it is joined into', () => {
    const root = join(packages, 'runtime');
    const found: string[] = [];
    for (const file of readdirSync(root, { recursive: true }) as string[]) {
      if (!file.endsWith('.js')) continue;
      const text = readFileSync(join(root, file), 'utf8');
      for (const [, place = ''] of text.matchAll(/new URL\("([^"]+)", import\.meta\.url\)/g))
        found.push(join(dirname(file), place));
    }
    expect(found).toEqual(
      expect.arrayContaining(['store/sqlite/sqlite-threads.js', 'graphql/explorer.js']),
    );
    expect(existsSync(join(root, 'store/sqlite/sqlite-worker.js'))).toBe(true);
  });

  it('have a file at its place for each module that looks beside itself and is not joined', () => {
    const apart = sourceFiles('runtime').filter((file) => /^runtime.(hosting|models)/.test(file));
    const looking = apart.filter((file) =>
      /(programBeside|fileURLToPath)\(import\.meta\.url/.test(
        readFileSync(join(repo, file), 'utf8'),
      ),
    );
    expect(looking).toContain('runtime/hosting/ingress/remote.ts');
    const beside: string[] = [];
    for (const file of looking) {
      const place = file.replace(/^runtime\//, '').replace(/^core\//, 'runtime/');
      const shipped = join(packages, place.replace(/\.ts$/, '.js'));
      expect(existsSync(shipped), file).toBe(true);
      for (const [, name = ''] of readFileSync(shipped, 'utf8').matchAll(
        /programBeside\(import\.meta\.url, ['"]([^'"]+)['"]\)/g,
      ))
        beside.push(join(dirname(shipped), `${name}.js`));
    }
    expect(beside).toHaveLength(2);
    expect(beside.filter((file) => !existsSync(file))).toEqual([]);
  });

  it('know the errors of a graphql that the project installed itself', async () => {
    expect(await answer(serve(), '{ refused }')).toMatchObject({
      data: { refused: null },
      errors: [{ message: 'not today', extensions: { code: 'NOT_TODAY' } }],
    });
  });

  it('are compiled while an image is built, with the sources', async () => {
    const line =
      /^RUN node --eval "(.*)"$/m.exec(readFileSync(join(shop.root, 'Dockerfile'), 'utf8'))?.[1] ??
      '';
    const cache = join(shop.root, 'compiled');
    const build = () =>
      spawnSync(process.execPath, ['--eval', line], {
        cwd: shop.root,
        env: { ...process.env, NODE_COMPILE_CACHE: cache },
      });
    expect(build().status).toBe(0);
    const compiled = readdirSync(cache, { recursive: true }).length;
    expect(compiled).toBeGreaterThan(14);
    rmSync(cache, { recursive: true });
    // What cannot start says so when it is started.
    renameSync(join(shop.root, 'src/routes.ts'), join(shop.root, 'src/away.ts'));
    expect(build().status).toBe(0);
    renameSync(join(shop.root, 'src/away.ts'), join(shop.root, 'src/routes.ts'));
  });
});

/** Packages of ours that nobody else writes to. */
function ownCopy({ root }: TestProject): void {
  const modules = join(root, 'node_modules');
  const shared = realpathSync(modules);
  rmSync(modules);
  mkdirSync(modules);
  for (const name of readdirSync(shared))
    if (name !== '@twofold') symlinkSync(realpathSync(join(shared, name)), join(modules, name));
  cpSync(join(shared, '@twofold'), join(modules, '@twofold'), {
    recursive: true,
    filter: (path) => !path.endsWith('.cache'),
  });
}
