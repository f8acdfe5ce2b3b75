import { base } from '../../address.ts';
import { t } from '../../messages.ts';
import { can } from '../../parts/can.ts';
import { Facts, Panel } from '../../parts/page.tsx';
import { useCall } from '../../parts/use-call.ts';
import type { OpenApi } from '../../rest-modules.ts';
import { description } from '../../description.ts';
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

/** Further fields of a user that the rules let the caller read, and a link to the row. */
export function OwnFields({ user: { id, row } }: { user: User }) {
  const isListed = description.value?.pages.some((page) => page.id === 'data');
  const document = useCall<OpenApi>(isListed && row ? '/api/openapi.json' : null).data;
  const has = (path: string) => document?.paths[path]?.['get'] !== undefined;
  const at = encodeURIComponent(id);
  const plural = row?.plural ?? '';
  const { data } = useCall<Row>(has(`/api/${plural}/{id}`) ? `/api/${plural}/${at}` : null);
  const isAdmin = can('data:read') && has(`/api/data/${plural}/{id}`);
  const fields = data ? fieldsOf(data) : [];
  if (!row || (fields.length === 0 && !isAdmin)) return null;
  const rowPath = `${base}/data/${plural}?${isAdmin ? 'as=admin&' : ''}row=${at}`;
  return (
    <Panel name={row.type} tools={<a href={rowPath}>{t('Open the row')}</a>}>
      <Facts rows={fields} />
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
