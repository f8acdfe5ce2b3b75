import { base } from '../../address.ts';
import { t } from '../../messages.ts';
import { can } from '../../parts/can.ts';
import { Answer, Facts, Panel } from '../../parts/page.tsx';
import { useCall } from '../../parts/use-call.ts';
import type { OpenApi } from '../../rest-modules.ts';
import { description } from '../../session.ts';
import type { User } from './shapes.ts';

/** Fields that the account shows already, in snake_case. */
const SHOWN = new Set([
  'id',
  'email',
  'name',
  'first_name',
  'last_name',
  'username',
  'phone',
  'created_at',
  'last_login',
]);

/** Further fields of the project's user type, for callers who may read every row. */
export function OwnFields({ user: { id, row } }: { user: User }) {
  const isListed = description.value?.pages.some((page) => page.id === 'data');
  const document = useCall<OpenApi>(isListed && row ? '/api/openapi.json' : null).data;
  const has = (path: string) => document?.paths[path]?.['get'] !== undefined;
  const isThere = row !== undefined && can('data:read') && has(`/api/data/${row.plural}/{id}`);
  const at = encodeURIComponent(id);
  const read = useCall<Row>(isThere ? `/api/data/${row.plural}/${at}` : null);
  if (!isThere || (read.data && fieldsOf(read.data).length === 0)) return null;
  const rowPath = `${base}/data/${row.plural}?as=admin&row=${at}`;
  return (
    <Panel name={row.type} tools={<a href={rowPath}>{t('Open the row')}</a>}>
      <Answer of={read}>{(data) => <Facts rows={fieldsOf(data)} />}</Answer>
    </Panel>
  );
}

type Row = Readonly<Record<string, unknown>>;

const fieldsOf = (row: Row): (readonly [string, string])[] =>
  Object.entries(row)
    .filter(([name]) => !SHOWN.has(snakeCase(name)))
    .map(([name, value]) => [name, textOf(value)]);

const snakeCase = (name: string) =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function textOf(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
