import { expect, test } from 'vitest';
import { run } from '../../generator/pipeline.ts';
import { disk } from '../../generator/write/disk.ts';
import { makeProject } from '../generator/project.ts';
import { manyTables } from './many-tables.ts';

/** The generator of commit ddc69c2c wrote 39,416 lines for these tables. */
const MOST_LINES = 15_000;

test(`56 tables with api.crud make at most ${MOST_LINES} generated lines`, async () => {
  const project = makeProject({
    'schema.graphql': manyTables(),
    'manifest.yaml': 'name: shop\napi: { crud: true }\n',
  });
  try {
    const { findings } = await run(project.root, {}, disk);
    expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
    const generated = Object.entries(project.files()).filter(([path]) =>
      path.startsWith('src/generated/'),
    );
    const tables = /^export interface Database \{\n(.*?)^\}/ms.exec(
      project.read('src/generated/types.ts'),
    )![1]!;
    expect(tables.match(/^ {2}\w/gm)).toHaveLength(56);
    const lines = generated.reduce((sum, [, text]) => sum + text.split('\n').length - 1, 0);
    expect([lines, lines <= MOST_LINES]).toEqual([lines, true]);
  } finally {
    project.remove();
  }
});
