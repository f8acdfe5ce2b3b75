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
  writeFileSync,
} from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundle } from '../../generator/packages/bundle.ts';
import { type Program, query, run } from '../server/program.ts';
import { sourceFiles } from '../source-files.ts';
import { generator, linkShippedPackages, makeProject, repo, type TestProject } from './project.ts';

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

/** What no answer to a simple query needs. */
const LATER =
  /node_modules\/(ajv|bcrypt|dockerode|grant|jsonwebtoken|koa-body|nodemailer|pg|undici|ws|@zxcvbn-ts)\/|mime-(types|db)|\/(explorer|seed|rest|auth|hosting)\.js|node:(cluster|https|http2|tls|child_process)$/;

describe('the packages as they are shipped', () => {
  let shop: TestProject;
  let runtime: string;
  beforeAll(async () => {
    shop = makeProject({
      'schema.graphql': SCHEMA,
      'manifest.yaml': 'name: shop\n',
      'src/resolvers/Query.ts': RESOLVERS,
      'src/routes.ts': ROUTES,
    });
    await linkShippedPackages(shop);
    ownCopy(shop);
    runtime = join(shop.root, 'node_modules/@twofold/runtime');
    expect(await generator(['generate'], shop.root)).toMatchObject({ code: 0 });
  }, 240_000);
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

  it('export what the sources export', async () => {
    const own = await import('@twofold/runtime');
    const shipped = (await import(
      /* @vite-ignore */ pathToFileURL(join(runtime, 'index.js')).href
    )) as object;
    expect(Object.keys(shipped).sort()).toEqual(Object.keys(own).sort());
  });

  it('load few files for the first answer, and nothing that it does not need', async () => {
    const program = serve();
    expect(await answer(program, '{ notes { id } }')).toEqual({ data: { notes: [] } });
    const loaded = JSON.parse(/^loaded (.*)$/m.exec(program.output())?.[1] ?? '[]') as string[];
    const files = loaded.filter((url) => !url.startsWith('node:'));
    expect(loaded.filter((url) => LATER.test(url))).toEqual([]);
    expect(
      files.filter((url) => url.includes('/node_modules/') && !url.includes('/@twofold/')),
    ).toEqual([]);
    expect(files.length).toBeGreaterThan(12);
    expect(files.length).toBeLessThan(24);
  });

  it('require the modules of Node, of which an import would read everything', () => {
    const files = readdirSync(runtime, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.js') && name !== 'index.js',
    );
    expect(files.length).toBeGreaterThan(8);
    const imported = files.flatMap((name) =>
      [
        ...readFileSync(join(runtime, name), 'utf8').matchAll(/^import .* from "([\w/:]+)";$/gm),
      ].map(([, module = '']) => module),
    );
    expect([...new Set(imported.filter(isBuiltin))]).toEqual(['node:module']);
  });

  it('read the tables of media types when somebody asks for one', async () => {
    const program = serve();
    expect(await get(program, '/picture', 'image/png')).toMatchObject({ type: 'image/png' });
    expect(program.output()).toMatch(/mime-types-2[\d.]+\.cjs/);
    expect(program.output()).toMatch(/mime-types-3[\d.]+\.cjs/);
  });

  it('read the page for browsers when a browser comes', async () => {
    const program = serve();
    expect(await get(program, '/graphql', 'text/html')).toEqual({
      type: 'text/html; charset=utf-8',
      text: expect.stringContaining('shop: GraphQL explorer'),
    });
    expect(program.output()).toContain('graphql/explorer.js');
  });

  it('come with the licence of everybody whose code is inside', () => {
    const names = new Set(
      readdirSync(runtime)
        .filter((name) => /\.c?js$/.test(name))
        .flatMap((name) =>
          [
            ...readFileSync(join(runtime, name), 'utf8').matchAll(
              /^(?:\/\/|\/\/#region) .*node_modules\/((?:@[\w-]+\/)?[\w.-]+)\//gm,
            ),
          ].map(([, from = '']) => from),
        ),
    );
    expect([...names]).toEqual(
      expect.arrayContaining(['@koa/router', 'graphql', 'koa', 'koa-compose', 'kysely', 'pino']),
    );
    for (const name of names)
      expect(readFileSync(join(runtime, 'licences', `${name}.txt`), 'utf8'), name).toMatch(
        /licen[cs]e|permission/i,
      );
  });

  it('know the errors of a graphql that the project installed itself', async () => {
    expect(await answer(serve(), '{ refused }')).toMatchObject({
      data: { refused: null },
      errors: [{ message: 'not today', extensions: { code: 'NOT_TODAY' } }],
    });
  });

  it('keep what was compiled for the next start, and start where it cannot be kept', async () => {
    const cache = join(runtime, '.cache');
    await answer(serve(), '{ notes { id } }');
    expect(readdirSync(cache, { recursive: true }).length).toBeGreaterThan(20);
    expect(await answer(serve(), '{ notes { id } }')).toEqual({ data: { notes: [] } });
    rmSync(cache, { recursive: true });
    writeFileSync(cache, 'a file where the folder would be');
    expect(await answer(serve(), '{ notes { id } }')).toEqual({ data: { notes: [] } });
    rmSync(cache);
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

  it('have a file at its place for each module that looks beside itself', () => {
    const looking = sourceFiles('runtime').filter((file) =>
      /(programBeside|fileURLToPath)\(import\.meta\.url/.test(
        readFileSync(join(repo, file), 'utf8'),
      ),
    );
    expect(looking).toContain('runtime/hosting/ingress/remote.ts');
    const beside: string[] = [];
    for (const file of looking) {
      const shipped = join(runtime, file.replace(/^runtime\//, '').replace(/\.ts$/, '.js'));
      expect(existsSync(shipped), file).toBe(true);
      for (const [, name = ''] of readFileSync(shipped, 'utf8').matchAll(
        /programBeside\(import\.meta\.url, "([^"]+)"\)/g,
      ))
        beside.push(join(dirname(shipped), `${name}.js`));
    }
    expect(beside).toHaveLength(2);
    expect(beside.filter((file) => !existsSync(file))).toEqual([]);
  });

  it('have each program of its own in one file', () => {
    for (const name of [
      'hosting/ingress/process',
      'hosting/models/engine/keeper',
      'hosting/models/llamacpp/program',
    ]) {
      expect(readFileSync(join(runtime, `${name}.js`), 'utf8')).not.toMatch(
        /\bfrom "\.|import\("\./,
      );
    }
  });
});

it('pieces name their sources, from whatever folder they are packed', async () => {
  const home = process.cwd();
  process.chdir(tmpdir());
  try {
    const { files } = await bundle({
      folder: join(repo, 'runtime'),
      index: 'listener',
      parts: [],
      placed: [],
      programs: [],
      inside: {},
      together: [],
      waiting: [],
    });
    const text = files.map(({ bytes }) => String(bytes)).join('\n');
    expect(text).toContain('// runtime/errors.ts\n');
    expect(text).not.toMatch(/^\/\/ (\.\.|\/)/m);
  } finally {
    process.chdir(home);
  }
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
