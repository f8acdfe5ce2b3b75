import { describe, expect, test } from 'vitest';
import { defineProject } from '../../runtime/core/model/define-project.ts';
import * as words from '../../runtime/core/model/index.ts';
import { readProject } from '../../schema/index.ts';
import type { Project } from '../../schema/model.ts';
import { templatesOf } from '../../templates/capabilities.ts';
import { renderLoaders } from '../../templates/owned/loaders.ts';
import { renderModel } from '../../templates/owned/model.ts';
import { renderResolvers } from '../../templates/owned/resolvers.ts';
import { renderSchema } from '../../templates/owned/schema.ts';
import { starters } from '../../templates/starter/index.ts';
import { settingsFile } from '../../templates/settings.ts';
import { stripTypeScriptTypes } from 'node:module';
import { MANIFEST, SCHEMAS, sdlOf } from '../crud/schemas.ts';
import { KITCHEN_SINK, SHAPES } from './schemas.ts';

describe('what is printed means the project that it was printed from', () => {
  for (const [name, starter] of Object.entries(starters)) {
    test(`template ${name}`, () => expectRoundTrip(starter.schema, starter.manifest('shop')));
  }
  for (const [name, sdl] of Object.entries(SHAPES))
    test(name, () => expectRoundTrip(sdl, 'name: x'));
  for (const name of SCHEMAS)
    test(`${name}, with api.crud`, () => expectRoundTrip(sdlOf(name), MANIFEST));
  test('everything at once, with auth and hosting', () =>
    expectRoundTrip(
      KITCHEN_SINK,
      'name: shop\nauth: { register: { fields: [nicknames] } }\nhosting: {}\napi: { rest: true }\ndatabase: { ids: uuid }',
    ));
});

function expectRoundTrip(schema: string, manifest: string): void {
  const { project, diagnostics } = readProject({
    schema: [{ file: 'schema.graphql', text: schema }],
    manifest: { file: 'manifest.yaml', text: manifest },
  });
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  expect(normal(printAndRead(project!))).toEqual(normal(project!));
}

function printAndRead(project: Project): Project {
  return defineProject({
    ...(project.crudSdl
      ? { sdl: project.sdl.trim() }
      : (evaluate(renderSchema(project)) as { sdl: string })),
    ...(evaluate(renderModel(project)) as { model: words.Model }),
    ...(evaluate(renderResolvers(project, [])) as { fields: words.FieldTable }),
    ...(evaluate(renderLoaders(project)) as { loaders: {} }),
    ...capabilitySettings(project),
  });
}

function capabilitySettings(project: Project): Record<string, any> {
  const read = templatesOf(project).flatMap((template) => {
    const written = settingsFile(template, project);
    return written ? [[template.name, oneOf(evaluate(written.render()))] as const] : [];
  });
  return Object.fromEntries(read);
}

/** The one thing that a module exports. */
const oneOf = (module: unknown) => Object.values(module as Record<string, any>)[0];

/** Runs an emitted module whose only imports are words of the runtime. */
function evaluate(text: string): unknown {
  const script = stripTypeScriptTypes(text)
    .replace(/^import .*$/gm, '')
    .replace(/^export const (\w+)/gm, 'out.$1');
  const entries = Object.entries(words);
  const out = {};
  new Function('out', ...entries.map(([name]) => name), script)(
    out,
    ...entries.map(([, value]) => value),
  );
  return out;
}

/** What the generator alone needs (texts, reasons, old names) is not printed, and order of names does not count. */
function normal(project: Project): unknown {
  const dropped = new Set([
    'decidedBy',
    'description',
    'deprecated',
    'renamedFrom',
    'renames',
    'crudSdl',
    'manifest',
  ]);
  const value = JSON.parse(
    JSON.stringify(project, (key, each: unknown) => (dropped.has(key) ? undefined : each)),
  ) as Record<string, unknown>;
  for (const key of [
    'entities',
    'objects',
    'abstracts',
    'enums',
    'scalars',
    'operations',
    'loaders',
    'writes',
    'filters',
    'orders',
  ]) {
    value[key] = (value[key] as { name?: string; id?: string }[]).toSorted((a, b) =>
      (a.name ?? a.id)! < (b.name ?? b.id)! ? -1 : 1,
    );
  }
  // What a root field is served with stands in its operation: here are the arguments of the schema alone.
  for (const { role, fields } of value['objects'] as {
    role: string;
    fields: { args?: unknown }[];
  }[])
    if (role === 'root') for (const field of fields) delete field.args;
  value['scalars'] = (value['scalars'] as { source: string }[]).filter(
    ({ source }) => source !== 'builtin',
  );
  return { ...value, sdl: project.sdl.trim() };
}
