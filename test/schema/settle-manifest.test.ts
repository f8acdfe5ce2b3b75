import { Ajv } from 'ajv';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { settleManifest } from '../../schema/parse/settle.ts';

const schema = JSON.parse(
  readFileSync(new URL('../../schema/manifest.schema.json', import.meta.url), 'utf8'),
) as Record<string, any>;

describe('manifest.schema.json', () => {
  const ajv = new Ajv({
    allErrors: true,
    useDefaults: true,
    strict: false,
    allowUnionTypes: true,
  }).compile(schema);

  it('is walked by us with the same result as ajv has, whatever is changed', () => {
    const whole = { name: 'x', auth: {}, hosting: {} };
    expect(ajv(whole)).toBe(true);
    let tried = 0;
    for (const path of paths(whole)) {
      for (const value of [
        null,
        1,
        -1,
        0.5,
        'x',
        '',
        '5m',
        '1MiB',
        '60/1m',
        true,
        [],
        [1, 1],
        ['a', 'a'],
        {},
        { unknown: 1 },
      ]) {
        const ours: unknown[] = [];
        const changed = replaced(whole, path, value);
        settleManifest(structuredClone(changed), (problem) => ours.push(problem));
        // We take `jwt:` with nothing behind it for an empty section.
        if (value === null) continue;
        tried++;
        expect(
          ours.length === 0,
          `${path.join('.')} = ${JSON.stringify(value)}\n${stringify(ours)}`,
        ).toBe(ajv(structuredClone(changed)));
      }
    }
    expect(tried).toBeGreaterThan(1500);
  });

  it('fills the defaults that ajv fills', () => {
    const theirs = {
      name: 'x',
      auth: {
        oauth: { providers: { a: {} } },
        events: { webhooks: [{ url: 'https://x.test', secret_env: 'S' }] },
        roles: { list: ['a'] },
      },
      hosting: {},
      api: { trusted_documents: { file: 'x' } },
    };
    const ours = settleManifest(structuredClone(theirs), () => {});
    ajv(theirs);
    expect(ours).toEqual(theirs);
  });

  it('describes itself, and uses no keyword that we do not know', () => {
    const known = new Set(
      '$schema $id $ref title type enum const anyOf properties additionalProperties propertyNames required items minItems uniqueItems minimum exclusiveMinimum maximum minLength pattern default description definitions'.split(
        ' ',
      ),
    );
    for (const shape of shapes(schema))
      expect(Object.keys(shape).filter((key) => !known.has(key))).toEqual([]);
    expect(schema['description']).toBeTruthy();
  });
});

type Path = readonly string[];

function* paths(value: unknown, at: Path = []): Generator<Path> {
  if (at.length > 0) yield at;
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    for (const [key, inner] of Object.entries(value)) yield* paths(inner, [...at, key]);
}

function replaced(value: unknown, [key, ...rest]: Path, by: unknown): any {
  if (key === undefined) return by;
  return {
    ...(value as object),
    [key]: replaced((value as Record<string, unknown>)[key], rest, by),
  };
}

function* shapes(shape: Record<string, any>): Generator<Record<string, any>> {
  yield shape;
  for (const key of ['properties', 'definitions'])
    for (const inner of Object.values(shape[key] ?? {}))
      yield* shapes(inner as Record<string, any>);
  for (const key of ['items', 'additionalProperties', 'propertyNames'])
    if (typeof shape[key] === 'object') yield* shapes(shape[key]);
  for (const inner of shape['anyOf'] ?? []) yield* shapes(inner);
}
