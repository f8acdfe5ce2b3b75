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
