import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { explainAll, type Explanation } from '../../generator/explain/facts.ts';
import { readProjectOf } from '../../generator/pipeline.ts';
import { projectRoutes } from '../../schema/index.ts';
import { generator, repo } from './project.ts';

const examples = ['blog', 'company', 'hosting'] as const;
const root = (name: string) => join(repo, 'examples', name);

describe.each(examples)('explain in %s', (name) => {
  test('names what every field is and which rule decided, and each file and line is where it stands', async () => {
    const { stdout, code } = await generator(['explain', '--json'], root(name));
    expect(code).toBe(0);
    const { explanations } = JSON.parse(stdout) as { explanations: (Explanation & { file: string | null })[] };
    const { project } = await readProjectOf(root(name));
    const fields = [...project!.entities.flatMap((entity) => entity.fields.map((field) => `${entity.name}.${field.name}`)), ...project!.operations.map((each) => `${each.root.charAt(0).toUpperCase()}${each.root.slice(1)}.${each.name}`)];
    expect(explanations.map(({ coordinate }) => coordinate)).toEqual(expect.arrayContaining(fields));
    for (const { coordinate, what, decidedBy, file } of explanations.filter((each) => fields.includes(each.coordinate))) {
      expect([coordinate, what, decidedBy]).toEqual([coordinate, expect.stringMatching(/\S/), expect.stringMatching(/\S/)]);
      expect([coordinate, file]).toEqual([coordinate, expect.stringMatching(/^src\/.+:\d+$/)]);
      const [path = '', line = ''] = file!.split(':');
      const text = readFileSync(join(root(name), path), 'utf8').split('\n')[Number(line) - 1]!;
      const field = coordinate.split('.')[1]!;
      expect([coordinate, text]).toEqual([coordinate, expect.stringMatching(new RegExp(`\\b(${field}|${field.replace(/([A-Z])/g, '_$1').toLowerCase()})\\b`))]);
    }
  });

  test('names tables, columns and routes that are there', async () => {
    const { project } = await readProjectOf(root(name));
    const routes = new Set(projectRoutes(project!).map(({ method, path }) => `${method} ${path}`));
    const columns = new Set(project!.entities.flatMap((entity) => entity.columns.map((column) => `${entity.table}.${column.name}`)));
    for (const { coordinate, stored, routes: named = [], what } of explainAll(project!)) {
      for (const route of named) expect([coordinate, routes.has(route)]).toEqual([coordinate, true]);
      if (stored && (what === 'column' || what === 'relation to one')) expect([coordinate, columns.has(stored)]).toEqual([coordinate, true]);
    }
  });
});

test('explain of a name that is not there says which is near', async () => {
  expect(await generator(['explain', 'Pots'], root('blog'))).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean Post?') });
});
