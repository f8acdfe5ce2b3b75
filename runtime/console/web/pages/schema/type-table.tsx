import { query } from '../../address.ts';
import { t } from '../../messages.ts';
import { Badge, Empty, Panel } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import type { DescribedType } from './described.ts';
import { linkOfType } from './graph-box.tsx';

/** All types, those whose name, table, field or value has the searched text. */
export function TypeTable({ types }: { types: readonly DescribedType[] }) {
  const text = (query.value.get('q') ?? '').toLowerCase();
  return (
    <Panel name={t('All types')}>
      <Table
        name={t('Types')}
        columns={columns()}
        rows={types.filter((type) => hasText(type, text))}
        keyOf={({ name }) => name}
        linkOf={({ name }) => linkOfType(name)}
        empty={<Empty text={t('No types match')} />}
      />
    </Panel>
  );
}

function hasText(
  { name, table, fields = [], relations = [], values = [] }: DescribedType,
  text: string,
) {
  const words = [
    name,
    table ?? '',
    ...fields.flatMap((field) => [field.name, field.column]),
    ...relations.map(({ field }) => field),
    ...values,
  ];
  return words.some((word) => word.toLowerCase().includes(text));
}

const columns = (): readonly Column<DescribedType>[] => [
  {
    id: 'name',
    title: t('Type'),
    width: 'fit',
    sort: ({ name }) => name,
    render: ({ name }) => name,
  },
  {
    id: 'kind',
    title: t('Kind'),
    width: 'fit',
    sort: ({ kind }) => kind,
    render: ({ kind }) => <Badge>{kind}</Badge>,
  },
  {
    id: 'table',
    title: t('Table'),
    width: 'fit',
    sort: ({ table }) => table ?? '',
    render: ({ table }) => (table === undefined ? null : <code>{table}</code>),
  },
  {
    id: 'fields',
    title: t('Fields'),
    width: 'wrap',
    render: ({ fields, values = [] }) => (fields?.map(({ name }) => name) ?? values).join(', '),
  },
  {
    id: 'relations',
    title: t('Relations'),
    width: 'wrap',
    render: ({ relations = [] }) =>
      relations.map(({ field, to, kind }) => (
        <span key={field} class="relation">
          {field} → <a href={linkOfType(to)}>{kind === 'many' ? `[${to}]` : to}</a>{' '}
        </span>
      )),
  },
];
