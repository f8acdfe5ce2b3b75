import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { extract } from 'tar-stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeEnginesAtOnce } from '../engines/available.ts';
import { callEngine, engineJson } from '../engines/call-engine.ts';
import { importImage } from '../engines/import-image.ts';
import { type Member, sourceForm, tarGzOf } from './archives.ts';
import { startServer, type TestServer } from './server.ts';

const WEB = 'docker.io/twofold-test/web:1';

describeEnginesAtOnce('a build', ({ kind, socket }) => {
  const secret = `npm_4fV9-not-to-be-seen-${kind}`;
  let server: TestServer;
  beforeAll(async () => {
    await importImage(socket, 'twofold-test/web:1');
    server = await startServer({ socket });
  });
  afterAll(() => server?.end());

  let names = 0;
  const fresh = (word: string) => `${word}-${(names += 1)}`;
  const upload = (config: object, files: Record<string, Member>, query = '?wait=true') =>
    server.api('POST', `/api/deploy${query}`, sourceForm(config, tarGzOf(files)));
  const logOf = async (name: string, number = 1): Promise<string> =>
    (await server.api('GET', `/api/apps/${name}/deployments/${number}/logs`)).body;
  const read = async (name: string, path: string): Promise<string> =>
    (await server.api('POST', `/api/apps/${name}/exec`, { command: ['cat', path] })).body.stdout;
  const imageOf = async (name: string) =>
    (await server.api('GET', `/api/apps/${name}/deployments`)).body.deployments[0].image_id;

  it('uses mounts, platform variables and --chmod, of which the older builder of Docker knows nothing', async () => {
    const name = fresh('mounts');
    const Dockerfile = [
      '# syntax=docker/dockerfile:1',
      `FROM --platform=$BUILDPLATFORM ${WEB} AS tools`,
      'RUN echo tool > /tool',
      `FROM ${WEB}`,
      'ARG TARGETARCH',
      'ARG BUILDPLATFORM',
      'RUN --mount=type=cache,target=/cache,id=c --mount=type=tmpfs,target=/t cp /etc/passwd /t && date >> /cache/f && wc -l < /cache/f > /lines',
      'RUN --mount=type=bind,target=/ctx cp /ctx/a.txt /copied',
      'RUN --mount=type=bind,from=tools,target=/mnt cp /mnt/tool /tool',
      'RUN echo "$BUILDPLATFORM $TARGETARCH" > /platform && ls / > /left',
      'COPY --chmod=700 a.txt /mode',
      'RUN stat -c %a /mode > /octal',
    ].join('\n');
    const { status, body } = await upload({ name }, { Dockerfile, 'a.txt': 'of the context\n' });
    expect([status, body.error]).toEqual([200, undefined]);
    expect(await read(name, '/copied')).toBe('of the context\n');
    expect(await read(name, '/tool')).toBe('tool\n');
    expect(await read(name, '/platform')).toMatch(/^linux\/(\w+) \1\n$/);
    expect(await read(name, '/octal')).toBe('700\n');
    expect((await read(name, '/left')).split('\n')).not.toContain('f');
    // The cache of another app with the same id is another one.
    const other = fresh('mounts');
    const second = await upload(
      { name: other },
      { Dockerfile: `${Dockerfile}\nRUN true\n`, 'a.txt': 'x' },
    );
    expect([second.status, second.body.error]).toEqual([200, undefined]);
    expect(await read(other, '/lines')).toBe('1\n');
    const again = Dockerfile.replace('date >>', 'date  >>');
    await upload({ name }, { Dockerfile: again, 'a.txt': 'of the context\n' });
    expect(await read(name, '/lines')).toBe('2\n');
  });

  it('gets arguments, a stage, a folder and a Dockerfile of another name', async () => {
    const name = fresh('settings');
    const files = {
      'docker/web.file': `ARG BASE=none.invalid/x\nFROM \${BASE} AS base\nARG WORD=default\nRUN echo "$WORD" > /word\nCOPY . /src\nFROM base AS wanted\nRUN echo wanted > /stage\nFROM wanted\nRUN exit 3\n`,
      'site/page.html': 'page',
      'site/.dockerignore': '*.log',
      'site/a.log': 'x',
      'other/x': 'x',
    };
    const build = {
      ...{ dockerfile: 'docker/web.file', context: 'site', target: 'wanted' },
      args: { WORD: 'given', BASE: WEB },
    };
    const { status, body } = await upload({ name, build }, files);
    expect([status, body.error]).toEqual([200, undefined]);
    expect(await read(name, '/word')).toBe('given\n');
    expect(await read(name, '/stage')).toBe('wanted\n');
    const ls = await server.api('POST', `/api/apps/${name}/exec`, { command: ['ls', '/src'] });
    expect(ls.body.stdout).toBe('page.html\n');
    const shown = (await server.api('GET', `/api/apps/${name}`)).body.build;
    expect(shown).toEqual(build);
    const changed = await server.api('PATCH', `/api/apps/${name}`, {
      build: { target: null, args: { WORD: 'more' } },
    });
    expect(changed.body.build).toEqual({
      dockerfile: 'docker/web.file',
      context: 'site',
      args: { WORD: 'more' },
    });
    expect((await server.api('PATCH', `/api/apps/${name}`, { build: null })).body.build).toEqual(
      {},
    );
  });

  it('is refused for settings that lead nowhere or out of the source', async () => {
    const Dockerfile = `FROM ${WEB} AS first\nFROM first AS second\n`;
    const wrong: [object, number, RegExp][] = [
      [{ context: '../x' }, 400, /build\.context must be a path in the source/],
      [{ context: '/etc' }, 400, /build\.context/],
      [{ dockerfile: 'a/../../Dockerfile' }, 400, /build\.dockerfile/],
      [{ output: '..' }, 400, /build\.output/],
      [{ colour: 'red' }, 400, /colour/],
      [{ args: { BUILDKIT_SYNTAX: 'evil/frontend' } }, 400, /BUILDKIT_SYNTAX/],
      [{ args: { 'A B': 'x' } }, 400, /A B|args/],
      [{ target: 'third' }, 422, /"third" is no stage.*first, second/],
      [{ context: 'nowhere' }, 422, /"nowhere" is not a folder/],
      [{ dockerfile: 'none' }, 422, /"none" is not in the source/],
      [{ secrets: ['NOT_SET'] }, 422, /NOT_SET.*PUT \/api\/apps\/wrong\/secrets\/NOT_SET/],
    ];
    for (const [build, code, message] of wrong) {
      const { status, body } = await upload({ name: 'wrong', build }, { Dockerfile, a: 'x' });
      expect([build, status, body.error]).toEqual([build, code, expect.stringMatching(message)]);
    }
  });

  it('reads a secret, which is in no layer, history, log or answer', async () => {
    const name = fresh('secret');
    const since = new Date().toISOString();
    await server.api('POST', '/api/apps', { name, build: { secrets: ['NPM_TOKEN'] } });
    await server.api('PUT', `/api/apps/${name}/secrets/NPM_TOKEN`, { value: secret });
    await server.api('PUT', `/api/apps/${name}/secrets/OTHER`, { value: 'not for the build' });
    const Dockerfile = [
      `FROM ${WEB}`,
      // Steps of an earlier run would not be run again.
      `ENV RUN=${Date.now()}`,
      'RUN --mount=type=secret,id=NPM_TOKEN,required=true cat /run/secrets/NPM_TOKEN && md5sum < /run/secrets/NPM_TOKEN > /sum',
      'RUN --mount=type=secret,id=NPM_TOKEN,target=/tmp/token printf %s "$(cat /tmp/token)" | cut -c 1-9 && echo "all of it: $(cat /tmp/token)" >&2',
      'RUN --mount=type=secret,id=OTHER test ! -e /run/secrets/OTHER',
      'COPY . /all',
      'RUN find / -xdev -type f -exec grep -l not-to-be-see[n] {} + > /found || true',
    ].join('\n');
    const { status, body } = await upload({ name }, { Dockerfile });
    expect([status, body.error]).toEqual([200, undefined]);
    expect(await read(name, '/sum')).toBe(
      'd13ea1a9b8f7d10b63d8bb11d0cf7ce8  -\n'.replace(/^\w+/, md5(secret)),
    );
    expect(await read(name, '/found')).toBe('');
    const log = await logOf(name);
    expect(log).toMatch(/\*{8}/);
    const image = await imageOf(name);
    const said = await Promise.all([
      ...['', '/deployments', '/deployments/1', '/deployments/1/logs'].map(
        async (path) => (await server.api('GET', `/api/apps/${name}${path}`)).body,
      ),
      engineJson(socket, { path: `/images/${image}/json` }),
      engineJson(socket, { path: `/images/${image}/history` }),
    ]);
    expect(JSON.stringify(said)).not.toContain(secret);
    expect(await savedText(socket, image)).not.toContain(secret);

    const broken = `${Dockerfile}\nRUN --mount=type=secret,id=NPM_TOKEN sh -c "echo $(cat /run/secrets/NPM_TOKEN) && exit 4"\n`;
    const failed = await upload({ name }, { Dockerfile: broken });
    expect([failed.status, failed.body.error]).toEqual([
      422,
      expect.stringMatching(/build failed/),
    ]);
    expect(await logOf(name, 2)).not.toContain(secret);
    expect(filesWith(secret, kind, since)).toEqual([]);
  });

  it('is refused with line, instruction and engine when the builder lacks what it uses', async () => {
    const lacked: [string, RegExp][] = [
      [
        'RUN <<EOF\nADD http://169.254.169.254/ /x\nEOF',
        /^Line 3: \w+ [\d.]+ .*here-document.*RUN <<EOF/,
      ],
      ['COPY --link a /a', /^Line 3: .*--link.*COPY --link a \/a/],
      ['COPY --exclude=*.md . /a', /^Line 3: .*--exclude/],
    ];
    for (const [lines, message] of lacked) {
      const { status, body } = await upload(
        { name: 'lacking' },
        { Dockerfile: `FROM ${WEB}\n\n${lines}\n`, a: 'x' },
      );
      expect([lines, status, body.error]).toEqual([lines, 422, expect.stringMatching(message)]);
    }
    const evil: [string, RegExp][] = [
      [`# syntax=evil/frontend:1\nFROM ${WEB}`, /syntax=evil/],
      [`#!/bin/x\n# syntax=evil/frontend:1\nFROM ${WEB}`, /syntax=evil/],
      [`FROM ${WEB}\nRUN --mount=type=cache,id=../../../etc,target=/x ls /x`, /\.\./],
      [
        `FROM ${WEB}\nRUN --mount=type=bind,"target=/x y",from=localhost/other ls`,
        /image of this server/,
      ],
      [
        `FROM ${WEB}\nRUN --mount=type=bind,bind-propagation=shared,target=/x ls`,
        /bind-propagation/,
      ],
      [`FROM ${WEB}\nRUN --mount=type=ssh ls`, /type=ssh/],
    ];
    for (const [Dockerfile, message] of evil) {
      const { status, body } = await upload({ name: 'lacking' }, { Dockerfile });
      expect([Dockerfile, status, body.error]).toEqual([
        Dockerfile,
        422,
        expect.stringMatching(message),
      ]);
    }
  });

  it('cannot reach the files of the machine through a link in a mounted stage', async () => {
    const Dockerfile = `FROM ${WEB} AS evil\nRUN ln -s / /link\nFROM ${WEB}\nRUN --mount=type=bind,from=evil,source=/link,target=/mnt ls /mnt/proc/1 > /seen; ls /mnt > /top; true\n`;
    const name = fresh('link');
    const { status, body } = await upload({ name }, { Dockerfile });
    if (kind === 'podman')
      return expect([status, body.error]).toEqual([
        422,
        expect.stringMatching(/^Line 4: Podman.*safely/),
      ]);
    expect(status).toBe(200);
    // The link leads to the root of the stage, whose folders are those of the image.
    expect((await read(name, '/top')).split('\n')).not.toContain('boot');
  });

  it('is cancelled: nothing of it runs after that, what served serves, and the next can begin', async ({
    expect,
  }) => {
    const name = fresh('cancel');
    const mark = `4${process.pid}${kind === 'docker' ? 1 : 2}`;
    await upload({ name }, { Dockerfile: `FROM ${WEB}\n` });
    // With a mount, so that BuildKit builds it where there is one.
    for (const flag of ['', '--mount=type=tmpfs,target=/t ']) {
      const slow = `FROM ${WEB}\nRUN ${flag}sleep ${mark}\n`;
      const { body } = await upload({ name }, { Dockerfile: slow }, '');
      await expect.poll(() => running(`sleep ${mark}`), { timeout: 30_000 }).toBe(true);
      const path = `/api/apps/${name}/deployments/${body.number}`;
      const cancelled = await server.api('POST', `${path}/cancel`);
      expect([cancelled.status, cancelled.body]).toEqual([
        200,
        expect.objectContaining({ status: 'cancelled', reason: 'The deployment was cancelled' }),
      ]);
      // Ten seconds are promised; a busy machine gets more.
      await expect.poll(() => running(`sleep ${mark}`), { timeout: 30_000 }).toBe(false);
      expect((await server.visit(`${name}.apps.test`)).status).toBe(200);
      expect((await server.api('GET', `/api/apps/${name}`)).body).toMatchObject({
        status: 'running',
      });
      const again = await server.api('POST', `${path}/cancel`);
      expect([again.status, again.body.error]).toEqual([
        409,
        expect.stringMatching(/finished.*cancelled/),
      ]);
    }
    expect((await upload({ name }, { Dockerfile: `FROM ${WEB}\n` })).status).toBe(200);
    expect((await server.api('POST', `/api/apps/${name}/deployments/99/cancel`)).status).toBe(404);
  });

  it('leaves no image without a name behind, and a cache that prune frees', async () => {
    const name = fresh('stages');
    const mark = `stages-${process.pid}-${names}`;
    // A deployment takes Podman four times as long.
    const words = kind === 'docker' ? ['one', 'two', 'three', 'four'] : ['one', 'four'];
    for (const word of words) {
      const Dockerfile = `FROM ${WEB} AS a\nRUN echo ${word} ${mark} > /a\nFROM ${WEB} AS b\nRUN --mount=type=tmpfs,target=/t echo ${word} ${mark} > /b\nFROM ${WEB}\nCOPY --from=a /a /a\nCOPY --from=b /b /b\n`;
      expect((await upload({ name }, { Dockerfile })).status).toBe(200);
    }
    expect(await read(name, '/b')).toBe(`four ${mark}\n`);
    expect(await dangling(socket, mark)).toEqual([]);
    if (kind === 'docker') expect(await cachedSteps(socket, mark)).not.toEqual([]);
    const events = { Accept: 'text/event-stream' };
    const { body: text } = await server.api('POST', '/api/system/prune', undefined, events);
    const step = kind === 'docker' ? 'removing the build cache' : 'removing build stage 1 of ';
    expect(text).toContain(`event: step\ndata: {"step":"${step}`);
    expect(text).toMatch(
      /event: done\ndata: \{"images":\d+,"reclaimed_bytes":\d+,"records":\d+\}\n\n$/,
    );
    const { body } = await server.api('POST', '/api/system/prune');
    expect(body).toMatchObject({ images: expect.anything() });
    if (kind === 'podman') return;
    expect(await cachedSteps(socket, mark)).toEqual([]);
  });

  it('by BuildKit alone is 503 without it, and keeps its cache below its bound', async () => {
    const mark = `bound-${process.pid}-${Date.now()}`;
    const strict = await startServer({
      socket,
      model: {
        build: {
          ...{ timeout: 60_000, memory: 0, concurrency: 1, allowAddUrl: false, from: ['*'] },
          ...{ buildkit: 'required', cache: 0 },
        },
      },
    });
    try {
      const form = sourceForm(
        { name: 'strict' },
        tarGzOf({ Dockerfile: `FROM ${WEB}\nRUN echo ${mark} > /p\n` }),
      );
      const { status, body } = await strict.api('POST', '/api/deploy?wait=true', form);
      if (kind === 'podman') {
        expect([status, body.error]).toEqual([
          503,
          expect.stringMatching(/Podman [\d.]+ has no BuildKit/),
        ]);
        return expect((await strict.api('GET', '/api/apps/strict')).status).toBe(404);
      }
      expect([status, body.error]).toEqual([200, undefined]);
      expect(await cachedSteps(socket, mark)).toEqual([]);
    } finally {
      await strict.end();
    }
  });
});

const md5 = (text: string) =>
  execFileSync('md5sum', { input: text, encoding: 'utf8' }).slice(0, 32);

/** Whether a process of this machine has this command line. */
function running(command: string): boolean {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .some((pid) => {
      try {
        return (
          readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim() === command
        );
      } catch {
        return false;
      }
    });
}

/** The steps of BuildKit's cache whose command has these words. */
async function cachedSteps(socket: string, words: string): Promise<string[]> {
  const { BuildCache } = await engineJson<{ BuildCache: { Description: string }[] | null }>(
    socket,
    {
      path: '/system/df',
    },
  );
  return (BuildCache ?? []).map((each) => each.Description).filter((text) => text.includes(words));
}

/** Images without a name, of whose steps one has these words: other tests build beside this one. */
async function dangling(socket: string, words: string): Promise<string[]> {
  const filters = encodeURIComponent(JSON.stringify({ dangling: ['true'] }));
  const found = await engineJson<{ Id: string }[]>(socket, {
    path: `/images/json?filters=${filters}`,
  });
  const steps = await Promise.all(
    found.map(({ Id }) => callEngine(socket, { path: `/images/${Id}/history` })),
  );
  return found.map(({ Id }) => Id).filter((_, index) => steps[index]!.bytes.includes(words));
}

/** What `docker save` writes, with every layer unpacked. */
async function savedText(socket: string, image: string): Promise<string> {
  const { bytes } = await callEngine(socket, { path: `/images/${encodeURIComponent(image)}/get` });
  const text = bytes.toString('latin1');
  expect(text).toContain('manifest.json');
  const unpack = extract();
  Readable.from([bytes]).pipe(unpack);
  let layers = '';
  for await (const entry of unpack) {
    const data = Buffer.concat(await Array.fromAsync(entry as AsyncIterable<Buffer>));
    if (data[0] === 0x1f && data[1] === 0x8b) layers += gunzipSync(data).toString('latin1');
  }
  return text + layers;
}

/** Files of an engine's images and caches, and of its builds, that have a text in them. */
function filesWith(text: string, kind: string, since: string): string[] {
  const own = `${process.env['TEST_ENGINES_DIR']}/${kind}`;
  const places = {
    docker: ['data/buildkit', 'data/image', 'data/overlay2'],
    podman: ['graph/overlay'],
  };
  const folders = places[kind as keyof typeof places].map((name) => `${own}/${name}`);
  const found = execFileSync(
    'sh',
    [
      '-c',
      'text=$1 since=$2; shift 2; find "$@" -xdev -type f -newermt "$since" -size -2048k -exec grep -lsF "$text" {} + || true',
      ...['sh', text, since, ...folders, '/var/tmp'],
    ],
    { encoding: 'utf8' },
  );
  return found.split('\n').filter(Boolean);
}
