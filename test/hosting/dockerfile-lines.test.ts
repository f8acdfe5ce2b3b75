import { describe, expect, it } from 'vitest';
import { createBuilder } from '../../runtime/hosting/engine/builder.ts';
import {
  assertTriggersContained,
  chooseBuild,
  withOwnCaches,
} from '../../runtime/hosting/source/builder-features.ts';
import { inspectDockerfile } from '../../runtime/hosting/source/dockerfile.ts';
import { parseDockerfile, withFrontend } from '../../runtime/hosting/source/dockerfile-lines.ts';

const policy = { allowAddUrl: false, from: ['docker.io/*', 'docker.io/library/*'] };
const inspect = (text: string, args = {}) => inspectDockerfile(text, policy, args);
const choose = (text: string, engine: ['docker' | 'podman', string], required = false) =>
  chooseBuild(createBuilder(...engine), {
    ...{ text, required, secrets: false },
    instructions: parseDockerfile(text),
  });
const DEBIAN = ['docker', '20.10.24+dfsg1'] as ['docker', string];

describe('a here-document', () => {
  it('belongs to its instruction, and its text is none', () => {
    const text =
      '# a comment\n\nFROM node\nRUN <<A <<-"B" cat\nFROM evil/x\nA\n\tADD http://x /y\n\tB\nCOPY <<EOF /f\nFROM $X\nEOF\nRUN x';
    expect(parseDockerfile(text).map(({ name, line, end }) => [name, line, end])).toEqual([
      ['FROM', 3, 3],
      ['RUN', 4, 8],
      ['COPY', 9, 11],
      ['RUN', 12, 12],
    ]);
    expect(inspect(text).images).toEqual(['node']);
  });

  it.each([
    ['RUN cat <<EOF', /no end/],
    ['RUN cat <<"E O"\nE O', /not allowed/],
    ['RUN cat <<$X\n$X', /not allowed/],
    ['RUN cat "a <<EOF\nADD http://x /y\nEOF', /quote that does not end/],
    ['RUN ${X:-a b} <<EOF\nEOF', /variable with spaces/],
    ['RUN ${} <<CMD\nADD http://x /y\nCMD', /a variable of this form/],
    ['RUN ${X:?} <<CMD\nADD http://x /y\nCMD', /a variable of this form/],
    ['RUN --network=none [ "a\\"" , "b" ] <<CMD\nADD http://x /y\nCMD', /JSON form/],
    [
      'ONBUILD RUN --mount="type=tmpfs,target=/a b" [ "a" ] <<CMD\nADD http://x /y\nCMD',
      /JSON form/,
    ],
    ['RUN <<CMD\nCMD\r\r\nADD http://x /y\nCMD', /carriage return/],
  ])('that builders could read differently is refused: %s', (line, message) => {
    expect(() => inspect(`FROM node\n${line}\n`)).toThrow(
      expect.objectContaining({ status: 422, message: expect.stringMatching(message) }),
    );
  });

  it.each([
    'RUN echo $((1<<2))',
    'RUN echo "a <<EOF"',
    'RUN ["cat", "<<EOF"]',
    'RUN x <<< word',
    'ENV A=<<EOF',
  ])('is not in %s, so that the next line is an instruction', (line) => {
    expect(parseDockerfile(`FROM node\n${line}\nADD a /b`).map(({ name }) => name)).toContain(
      'ADD',
    );
  });
});

describe('the end of a line', () => {
  it('joins words as builders do, so that none is hidden in two lines', () => {
    expect(() => inspect('FROM node\nAD\\\nD http://x /y')).toThrow(/ADD of an address/);
    expect(() => inspect('FROM node\nADD ht\\\n# why\ntp://x /y')).toThrow(/ADD of an address/);
    expect(() => inspect('FROM local\\\nhost/twofold-1/other:3')).toThrow(/image of this server/);
    expect(() => inspect('FROM node\nAD\\\n D http://x /y')).toThrow('"AD" is not an instruction');
  });

  it.each([
    ['RUN echo \\\\\nADD http://x /y', /ends with/],
    ['RUN echo \\\u00A0\nADD http://x /y', /unusual space at its end/],
    ['RUN echo \\\f\nADD http://x /y', /unusual space at its end/],
    ['CMD a \\\n\u0085# b\nRUN <<CMD\nADD http://x /y\nCMD', /unusual space at its beginning/],
    ['RUN echo \\\n\uFEFF\nADD http://x /y', /unusual space at its beginning/],
    ['RUN echo \\\n \uFEFF# a\nADD http://x /y', /unusual space at its beginning/],
    ['RUN echo \\\r\r\nADD http://x /y', /carriage return/],
  ])('that builders could read differently is refused: %j', (lines, message) => {
    expect(() => inspect(`FROM node\n${lines}\n`)).toThrow(
      expect.objectContaining({ status: 422, message: expect.stringMatching(message) }),
    );
  });
});

describe('a hostile text', () => {
  it.each([
    ['a directive', `# a= ${' '.repeat(250_000)}b\u2028\nFROM a`, null],
    ['an argument', `ARG ${'a'.repeat(250_000)}!\nFROM a`, null],
    ['variables', `FROM a\nRUN <<EOF ${'${'.repeat(120_000)}`, /not allowed/],
    [
      'arguments that double',
      `ARG A=xx\n${'ARG A=$A$A\n'.repeat(40)}FROM a`,
      /values of ARG are too long/,
    ],
  ])('costs little: %s', (_what, text, message) => {
    const look = () => inspectDockerfile(text, { allowAddUrl: false, from: ['*'] });
    if (message) expect(look).toThrow(message);
    else expect(look().images).toEqual(['a']);
  });
});

describe('the rules', () => {
  it('hold for images that an argument of the build names', () => {
    expect(inspect('ARG B\nFROM $B', { B: 'node:24' }).images).toEqual(['node:24']);
    expect(() => inspect('ARG B=node\nFROM $B', { B: 'evil.test/x' })).toThrow(/not allowed/);
  });

  it('hold behind quotes in a flag', () => {
    for (const flag of [
      '--mount=type=bind,"target=/a b",from=evil.test/x',
      "--mount='type=bind,from=evil.test/x'",
    ])
      expect(() => inspect(`FROM node\nRUN ${flag} ls`), flag).toThrow(/not allowed/);
  });

  it.each([
    '# syntax = evil/x\nFROM a',
    '#syntax=docker/dockerfile-upstream\nFROM a',
    '# escape=\\\n# SYNTAX=evil/x\nFROM a',
    '# a1=b\n# syntax=evil/x\nFROM a',
    '// syntax=evil/x\nFROM a',
    '#!/x\n\n# syntax=evil/x\nFROM a',
    '# syntax=docker/dockerfile:1 evil\nFROM a',
  ])('refuse another frontend: %j', (text) => {
    expect(() => parseDockerfile(text)).toThrow(/syntax=.* is not allowed/);
  });
});

describe('the builder', () => {
  it('is BuildKit for what needs it, and the official frontend for what the engine does not know', () => {
    const plain = 'FROM a\nRUN b\nCOPY c /d\n';
    expect(choose(plain, DEBIAN)).toMatchObject({ buildkit: false, frontend: null });
    expect(choose(plain, DEBIAN, true)).toMatchObject({ buildkit: true, frontend: null });
    for (const line of [
      'RUN --mount=type=cache,target=/c b',
      'COPY --chmod=7 a b',
      'ARG TARGETARCH',
    ])
      expect(choose(`FROM a\n${line}\n`, DEBIAN)).toMatchObject({ buildkit: true, frontend: null });
    const newer = 'FROM a\nRUN <<E\nx\nE\n';
    const frontend = 'docker.io/docker/dockerfile:1';
    expect(choose(newer, DEBIAN)).toMatchObject({ buildkit: true, frontend });
    expect(choose(newer, ['docker', '23.0.1'])).toMatchObject({ buildkit: true, frontend: null });
    expect(choose(`# syntax=docker/dockerfile:1.7-labs\n${newer}`, DEBIAN)).toMatchObject({
      frontend: 'docker.io/docker/dockerfile:1.7-labs',
    });
    // They would read the text of a here-document as instructions.
    for (const old of [':1.0', ':1.3', ':1.3-labs', `:1.7@sha256:${'0'.repeat(64)}`])
      expect(choose(`# syntax=docker/dockerfile${old}\n${newer}`, DEBIAN)).toMatchObject({
        frontend,
      });
    expect(choose(`# syntax=docker/dockerfile:1.7-labs\n${plain}`, DEBIAN)).toMatchObject({
      ...{ buildkit: true, frontend: null },
    });
    expect(choose('FROM a\nCOPY --exclude=x . .', ['docker', '28.2.2']).frontend).toBe(frontend);
  });

  it('of Podman is asked for nothing that it lacks', () => {
    const podman = ['podman', '4.3.1'] as ['podman', string];
    expect(() => choose('FROM a\n\nCOPY --link \\\n  b /c', podman)).toThrow(
      'Line 3: Podman 4.3.1 does not build COPY with --link: "COPY --link b /c"',
    );
    expect(() => choose('FROM a', podman, true)).toThrow(
      expect.objectContaining({ status: 503, message: expect.stringContaining('Podman 4.3.1') }),
    );
    for (const line of [
      'RUN --mount=type=bind,from=b,source=/l,target=/m ls',
      'RUN --mount=from=b,src=../l,dst=/m ls',
      'ONBUILD RUN --mount=type=cache,from=b,source=l,target=/m ls',
      'RUN --mount=type=cache,target=$X ls',
    ])
      expect(() => choose(`FROM a AS b\n${line}`, podman), line).toThrow(/Line 2: Podman/);
    expect(choose('FROM a AS b\nRUN --mount=from=b,dst=/m ls', podman)).toMatchObject({
      fresh: true,
    });
  });

  it('of Podman gets no base image whose ONBUILD leads out of the build, or into a cache of others', () => {
    const podman = createBuilder('podman', '5.0');
    for (const trigger of [
      'RUN --mount=type=bind,from=b/c,source=/l,target=/m ls',
      'RUN --mount=type=cache,id=other,target=/m ls',
    ]) {
      expect(() => assertTriggersContained(podman, [trigger]), trigger).toThrow(/Podman/);
      assertTriggersContained(createBuilder(...DEBIAN), [trigger]);
    }
    assertTriggersContained(podman, ['COPY . /app', 'RUN ls']);
  });

  it('gets a frontend that we choose, and lines keep their numbers without one', () => {
    const text = '# syntax=docker/dockerfile:1\n# escape=`\nFROM a\n';
    expect(withFrontend(text, null)).toBe('# escape=`\n#\nFROM a\n');
    expect(withFrontend(text, 'docker.io/docker/dockerfile:1')).toBe(
      '# syntax=docker.io/docker/dockerfile:1\n# escape=`\n#\nFROM a\n',
    );
  });

  it('gets caches of the app alone', () => {
    const text = 'FROM a\nRUN --mount=type=cache,target=/cache/npm \\\n  # why\n  npm ci\nRUN b\n';
    expect(withOwnCaches(text, parseDockerfile(text), 'app-1')).toBe(
      'FROM a\nRUN --mount=type=cache,target=/cache/npm,id=app-1--cache-npm npm ci\n\n\nRUN b\n',
    );
    const other = 'FROM a\nRUN --mount=type=tmpfs,target=/t x\n';
    expect(withOwnCaches(other, parseDockerfile(other), 'app-1')).toBe(other);
  });
});
