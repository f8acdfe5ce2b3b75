import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { healthCheckIn } from '../../runtime/hosting/source/healthcheck.ts';
import { describeEachEngine } from '../engines/available.ts';
import { importImage } from '../engines/import-image.ts';
import { type Member, sourceForm, tarGzOf } from './archives.ts';
import { startServer, type TestServer } from './server.ts';

const WEB = 'docker.io/twofold-test/web:1';

describe('a HEALTHCHECK', () => {
  it.each([
    [
      'a line for a shell',
      'FROM a\nHEALTHCHECK CMD wget -q localhost || exit 1',
      {
        command: ['/bin/sh', '-c', 'wget -q localhost || exit 1'],
        interval_s: 30,
        timeout_s: 30,
        retries: 3,
      },
    ],
    [
      'a list of words, and how often',
      'FROM a\nhealthcheck --interval=1m30s --timeout=500ms --start-period=5s --retries=7 cmd ["test", "-e", "/ok"]',
      { command: ['test', '-e', '/ok'], interval_s: 90, timeout_s: 1, retries: 7 },
    ],
    [
      'over several lines',
      'FROM a\nHEALTHCHECK --interval=5s \\\n  # why\n  CMD \\\n  true',
      { command: ['/bin/sh', '-c', 'true'], interval_s: 5, timeout_s: 30, retries: 3 },
    ],
    ['of the last stage alone', 'FROM a AS b\nHEALTHCHECK CMD one\nFROM c\nRUN x', null],
    [
      'of the stage that the last one begins with',
      'FROM a AS b\nHEALTHCHECK CMD one\nFROM c AS d\nFROM B',
      { command: ['/bin/sh', '-c', 'one'], interval_s: 30, timeout_s: 30, retries: 3 },
    ],
    ['that is taken back', 'FROM a\nHEALTHCHECK CMD one\nHEALTHCHECK NONE', null],
    [
      'with numbers that are none',
      'FROM a\nHEALTHCHECK --interval=soon --retries=-1 --timeout=9999h CMD x',
      { command: ['/bin/sh', '-c', 'x'], interval_s: 30, timeout_s: 300, retries: 3 },
    ],
    ['that is empty', 'FROM a\nHEALTHCHECK CMD', null],
  ])('is read from a Dockerfile: %s', (_, text, expected) => {
    expect(healthCheckIn(text)).toEqual(expected);
  });
});

describeEachEngine('a Dockerfile that has no Node.js in it', ({ socket }) => {
  let server: TestServer;
  beforeAll(async () => {
    await importImage(socket, 'twofold-test/web:1');
    server = await startServer({
      socket,
      model: { deploys: { keep: 5, readyTimeout: 6000, drain: 1000 } },
    });
  });
  afterEach(() => server?.clear());
  afterAll(() => server?.end());

  /** Builds and deploys; what went wrong is part of what is compared. */
  async function deploy(
    name: string,
    files: Record<string, Member>,
    config: Record<string, unknown> = {},
  ) {
    const { status, body } = await server.api(
      'POST',
      '/api/deploy?wait=true',
      sourceForm({ name, ...config }, tarGzOf(files)),
    );
    // A source that was refused has no deployment.
    const logs = await server.api('GET', `/api/apps/${name}/deployments/1/logs`);
    const log = logs.status === 200 ? (logs.body as string) : '';
    return { status, body, log, why: `${body.error ?? body.reason ?? ''}\n${log.slice(-1500)}` };
  }
  const page = async (name: string) => (await server.visit(`${name}.apps.test`)).text;
  const run = async (name: string, ...command: string[]) =>
    (await server.api('POST', `/api/apps/${name}/exec`, { command })).body.stdout as string;

  it('is built in several stages, from nothing but one file, on the port that it exposes', async () => {
    const Dockerfile = [
      `ARG BASE=${WEB}`,
      'FROM ${BASE} AS made',
      'ARG WORD=stages',
      'RUN mkdir /out && echo "made in $WORD" > /out/index.html',
      'FROM scratch',
      'COPY --from=made /bin/busybox /bin/busybox',
      'COPY --from=made --chown=1000:1000 /out /site',
      'EXPOSE 9090',
      'USER 1000:1000',
      'ENTRYPOINT ["/bin/busybox", "httpd", "-f", "-p", "9090"]',
      'CMD ["-h", "/site"]',
    ].join('\n');
    const { status, why } = await deploy('stages', { Dockerfile });
    expect([status, why]).toEqual([200, expect.anything()]);
    expect((await server.api('GET', '/api/apps/stages')).body).toMatchObject({
      status: 'running',
      port: 9090,
    });
    expect(await page('stages')).toBe('made in stages\n');
    expect(await run('stages', '/bin/busybox', 'id', '-u')).toBe('1000\n');
  });

  it('gets what .dockerignore leaves, owned as COPY says', async () => {
    const { status, why } = await deploy('files', {
      Dockerfile: `FROM ${WEB}\nCOPY --chown=1000:1000 . /ctx\nRUN chmod 755 /ctx\n`,
      '.dockerignore': '# comment\n*.log\nsecret\n!keep.log\n**/deep.txt\n',
      ...{
        'a.log': 'x',
        'keep.log': 'x',
        'secret/key': 'x',
        'src/deep.txt': 'x',
        'src/main.c': 'int main;',
        'run.sh': { mode: 0o755, data: Buffer.from('#!/bin/sh\n') },
      },
    });
    expect([status, why]).toEqual([200, expect.anything()]);
    const found = (await run('files', 'find', '/ctx', '-type', 'f'))
      .trim()
      .split('\n')
      .map((path) => path.slice('/ctx/'.length))
      .filter((path) => !/^(Dockerfile|\.dockerignore)$/.test(path));
    expect(found.sort()).toEqual(['keep.log', 'run.sh', 'src/main.c']);
    expect(await run('files', 'stat', '-c', '%u:%g %a', '/ctx/run.sh', '/ctx/src/main.c')).toBe(
      '1000:1000 755\n1000:1000 644\n',
    );
  });

  it("sets an environment, which the app's own goes over", async () => {
    const Dockerfile = `FROM ${WEB}\nENV GREETING=from-image PLACE="two words"\nCMD echo "$GREETING, $PLACE" > /www/index.html; exec httpd -f -p $PORT -h /www\n`;
    const { status, why } = await deploy(
      'words',
      { Dockerfile },
      { env: { GREETING: 'from-app' } },
    );
    expect([status, why]).toEqual([200, expect.anything()]);
    expect(await page('words')).toBe('from-app, two words\n');
  });

  it("starts by an ENTRYPOINT of words, of a line, or with the app's command behind it", async () => {
    const say =
      'printf \'#!/bin/sh\\necho "$#:$*" > /www/index.html\\nexec httpd -f -p $PORT -h /www\\n\' > /say && chmod 755 /say';
    const forms: [string, string, Record<string, unknown>, string][] = [
      ['words', 'ENTRYPOINT ["/say", "one two"]\nCMD ["three"]', {}, '2:one two three\n'],
      ['line', 'ENTRYPOINT WORD=line; exec /say $WORD', {}, '1:line\n'],
      ['own', 'ENTRYPOINT ["/say"]\nCMD ["image"]', { command: ['app', 'words'] }, '2:app words\n'],
      ['bare', 'ENTRYPOINT []\nCMD ["/say", "cmd"]', {}, '1:cmd\n'],
    ];
    for (const [name, lines, config, expected] of forms) {
      const { status, why } = await deploy(
        `entry-${name}`,
        { Dockerfile: `FROM ${WEB}\nRUN ${say}\n${lines}\n` },
        config,
      );
      expect([name, status, status === 200 ? '' : why]).toEqual([name, 200, '']);
      expect([name, await page(`entry-${name}`)]).toEqual([name, expected]);
    }
  });

  it('with a HEALTHCHECK is asked by it, on an engine that drops it too', async () => {
    // It becomes well when it has been asked, whenever that is.
    const Dockerfile = `FROM ${WEB}\nHEALTHCHECK --interval=1s --retries=2 CMD test -e /tmp/well || { echo "not well yet" >&2; touch /tmp/asked; exit 1; }\nCMD ["sh", "-c", "httpd -p $PORT -h /www; until test -e /tmp/asked; do sleep 0.1; done; touch /tmp/well; while true; do sleep 0.1; done"]\n`;
    const { status, why, body } = await deploy('well', { Dockerfile });
    expect([status, why]).toEqual([200, expect.anything()]);
    // The port was open at once: only the HEALTHCHECK can have said no at first.
    expect(body.probes.map(({ detail }: any) => detail).join('\n')).toMatch(
      /ended with 1: not well yet/,
    );
    const { health } = (await server.api('GET', '/api/apps/well')).body;
    expect(health).toMatchObject({
      command: ['/bin/sh', '-c', expect.stringContaining('/tmp/well')],
      interval_s: 1,
      retries: 2,
    });
    await run('well', 'rm', '/tmp/well');
    await expect
      .poll(async () => (await server.api('GET', '/api/apps/well')).body.restarts, {
        timeout: 30_000,
      })
      .toBeGreaterThan(0);

    const never = await deploy('ill', {
      Dockerfile: `FROM ${WEB}\nHEALTHCHECK CMD echo never well >&2; false\n`,
    });
    expect([never.status, never.body.error]).toEqual([
      502,
      expect.stringMatching(/did not become ready.*never well/),
    ]);
    const told = await deploy(
      'told',
      { Dockerfile: `FROM ${WEB}\nHEALTHCHECK CMD false\n` },
      { health: { path: '/' } },
    );
    expect([told.status, told.why]).toEqual([200, expect.anything()]);
  });

  it('that goes wrong says where: no such base, no such file, no such instruction, a line that fails', async () => {
    const wrong: [string, string, RegExp][] = [
      ['base', 'FROM docker.io/twofold-test/none-of-ours:1\n', /none-of-ours|registry/],
      ['file', `FROM ${WEB}\nCOPY not-there /x\n`, /not-there/],
      ['word', `FROM ${WEB}\nFLY away\n`, /FLY|fly/],
      ['line', `FROM ${WEB}\nRUN echo before && exit 9\n`, /exit 9|9/],
      ['stage', `FROM ${WEB}\nCOPY --from=nowhere /a /b\n`, /nowhere/],
    ];
    for (const [name, Dockerfile, message] of wrong) {
      const { status, body } = await deploy(`wrong-${name}`, { Dockerfile });
      expect([name, status, body.error]).toEqual([name, 422, expect.stringMatching(message)]);
    }
  });
});
