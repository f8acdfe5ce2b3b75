import { describe, expect, it } from 'vitest';
import { readProject } from '@twofold/schema';
import { createPaint, formatFindings } from '../../generator/report.ts';

const schema = {
  file: 'schema.graphql',
  text: `type Order { id: ID! items: [Item!]! }
type Item { id: ID! }
type Query { orders: [Order!]! items: [Item!]! }
`,
};

describe('the findings in a terminal', () => {
  it('of one kind have their line and reason three times, and then only place and fix', () => {
    const one = (line: number) => ({
      code: 'AUTH_TYPE_OPEN',
      severity: 'warning' as const,
      summary: 'anyone',
      why: 'reason',
      fix: 'do it',
      at: { file: 'schema.graphql', line, column: 1, length: 1 },
    });
    const texts = formatFindings([1, 2, 3, 1, 2].map(one), [schema], createPaint(false));
    expect(texts.map((text) => text.split('\n').length)).toEqual([5, 6, 6, 2, 2]);
    expect(texts[4]).toBe('schema.graphql:2:1  warning  AUTH_TYPE_OPEN  anyone\n   fix  do it');
  });

  it('stand the choices of a fix under each other', () => {
    const { diagnostics } = readProject({
      schema: [schema],
      manifest: { file: 'manifest.yaml', text: 'name: x\n' },
    });
    const [text] = formatFindings(diagnostics, [schema], createPaint(false));
    expect(text?.split('\n').slice(-2)).toEqual([
      '   fix  it may belong to many: items: [Item!]! @relation(table: "order_items")',
      '        it belongs to one: items: [Item!]! @relation(column: "order_id")',
    ]);
  });
});
