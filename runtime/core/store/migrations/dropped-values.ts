import type { RootOperationNode } from 'kysely';
import { nameIn } from '../tables/name-in.ts';
import type { DroppedValues } from '../tables/undo-statement.ts';

/** The values that one statement removes from the database. */
export function droppedBy(node: RootOperationNode, text: string): DroppedValues[] {
  switch (node.kind) {
    case 'DropTableNode':
      return [{ table: nameIn(node.table)! }];
    case 'DeleteQueryNode':
      return node.from.froms.map((from) => ({ table: nameIn(from)! }));
    case 'AlterTableNode':
      return (node.columnAlterations ?? []).flatMap((change) =>
        change.kind === 'DropColumnNode'
          ? [{ table: nameIn(node.table)!, column: nameIn(change.column)! }]
          : [],
      );
    case 'RawNode':
      return droppedByText(text);
    default:
      return [];
  }
}

const NAME = String.raw`(?:"([^"]+)"|([\w.]+))`;
const DROP_TABLE = new RegExp(String.raw`\bdrop\s+table\s+(?:if\s+exists\s+)?${NAME}`, 'gi');
const DELETE = new RegExp(String.raw`\b(?:delete\s+from|truncate(?:\s+table)?)\s+${NAME}`, 'gi');
const DROP_COLUMN = new RegExp(
  String.raw`\balter\s+table\s+${NAME}\s+drop\s+(?:column\s+)?(?!constraint\b)${NAME}`,
  'gi',
);

/** The values that handwritten SQL removes, as far as the SQL can be read. */
function droppedByText(text: string): DroppedValues[] {
  const tables = [DROP_TABLE, DELETE].flatMap((pattern) =>
    [...text.matchAll(pattern)].map(([, quoted, plain]) => ({ table: plainName(quoted, plain) })),
  );
  const columns = [...text.matchAll(DROP_COLUMN)].map(([, quoted, plain, column, other]) => ({
    table: plainName(quoted, plain),
    column: plainName(column, other),
  }));
  return [...tables, ...columns];
}

function plainName(quoted: string | undefined, plain: string | undefined): string {
  return quoted ?? plain?.split('.').at(-1) ?? '';
}
