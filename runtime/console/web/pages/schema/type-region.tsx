import { base, setQuery } from '../../address.ts';
import { t } from '../../messages.ts';
import { CloseButton } from '../../parts/button.tsx';
import { description } from '../../description.ts';
import { Facts, Panel } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import type { DescribedField, DescribedType } from './described.ts';
import { linkOfType } from './graph-box.tsx';

/** One type with its columns, relations and rules. */
export function TypeRegion({ type }: { type: DescribedType }) {
  const { name, kind, table, fields = [], relations = [], values = [], access } = type;
  const rules = Array.isArray(access) && access.length > 0 ? access : null;
  return (
    <Panel name={t('Type {name}', { name })} tools={<Tools type={type} />}>
      <Facts
        rows={[
          [t('Kind'), kind],
          ...(table === undefined ? [] : [[t('Table'), <code>{table}</code>] as const]),
          ...(values.length === 0 ? [] : [[t('Values'), values.join(', ')] as const]),
        ]}
      />
      {fields.length > 0 && <Fields of={name} fields={fields} />}
      {relations.length > 0 && <Relations of={name} relations={relations} />}
      {rules && (
        <>
          <h3>{t('Access')}</h3>
          <pre tabIndex={0}>{JSON.stringify(rules, null, 2)}</pre>
        </>
      )}
    </Panel>
  );
}

function Tools({ type: { plural } }: { type: DescribedType }) {
  const rows = plural !== undefined && description.value?.pages.some(({ id }) => id === 'data');
  return (
    <>
      {rows && <a href={`${base}/data/${plural}`}>{t('Rows')}</a>}
      <CloseButton label={t('Close type')} onClick={() => setQuery({ type: null })} />
    </>
  );
}

function Fields({ of, fields }: { of: string; fields: readonly DescribedField[] }) {
  return (
    <Table
      name={t('Fields of {name}', { name: of })}
      rows={fields}
      keyOf={({ name }) => name}
      columns={[
        { id: 'name', title: t('Field'), render: ({ name }) => name },
        { id: 'type', title: t('Type'), render: ({ type }) => <code>{type}</code> },
        { id: 'column', title: t('Column'), render: ({ column }) => <code>{column}</code> },
        { id: 'notes', title: t('Notes'), render: notesOf },
      ]}
    />
  );
}

const notesOf = ({ unique, indexed, nullable }: DescribedField) =>
  [unique && t('unique'), indexed && !unique && t('indexed'), nullable && t('may be null')]
    .filter(Boolean)
    .join(', ');

function Relations({
  of,
  relations,
}: {
  of: string;
  relations: NonNullable<DescribedType['relations']>;
}) {
  return (
    <Table
      name={t('Relations of {name}', { name: of })}
      rows={relations}
      keyOf={({ field }) => field}
      columns={[
        { id: 'field', title: t('Relation'), render: ({ field }) => field },
        {
          id: 'to',
          title: t('Type'),
          render: ({ to, kind }) => <a href={linkOfType(to)}>{kind === 'many' ? `[${to}]` : to}</a>,
        },
        { id: 'inverse', title: t('Inverse'), render: ({ inverse }) => inverse ?? '–' },
        {
          id: 'column',
          title: t('Column'),
          render: ({ column }) => (column === null ? '–' : <code>{column}</code>),
        },
      ]}
    />
  );
}
