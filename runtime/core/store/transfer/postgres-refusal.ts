import { RowRefused } from './database.ts';
import type { MovedTable } from './moved-table.ts';

/** `COPY films, line 3, column id: "x"`: where PostgreSQL was when it refused a row. */
export function refusalOf(error: unknown, table: MovedTable): unknown {
  const {
    where,
    message,
    detail,
    constraint,
    column: missing,
  } = error as Record<string, string | undefined>;
  const [, line, column] =
    /^COPY .*?, line (\d+)(?:, column ([^:]+?))?(?::|$)/m.exec(where ?? '') ?? [];
  if (line === undefined) return error;
  const said = `${message}${detail === undefined ? '' : ` (${detail})`}`;
  return new RowRefused(said, {
    row: Number(line) - 1,
    column: missing ?? column ?? table.columns.find(({ name }) => constraint?.includes(name))?.name,
    cause: error,
  });
}
