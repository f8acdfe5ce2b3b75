import { query, base, setQuery } from '../../address.ts';
import { t } from '../../messages.ts';
import { Answer, Empty, Page, Panel, Facts, Badge } from '../../parts/page.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { useCall } from '../../parts/use-call.ts';
import type { Described, DescribedField, DescribedType } from '../../../flows/schema.ts';
import { ModelGraph } from './graph.tsx';
import { Drift, Migrations } from './migrations.tsx';
import { CloseButton } from '../../parts/button.tsx';
import { description } from '../../description.ts';
import { Table, type Column } from '../../parts/table.tsx';
import { linkOfType } from './graph-box.tsx';

/** The model: as a picture, as a table, as SDL, and what is applied to the database. */
export function SchemaPage() {
  const schema = useCall<Described>('/api/system/schema');
  return (
    <Page title={t('Schema')} tools={<SearchBox label={t('Search types')} />}>
      <Answer of={schema} lines={14}>
        {(described) => <Model described={described} />}
      </Answer>
      <Migrations />
      <Drift />
    </Page>
  );
}

function Model({ described: { types, sdl } }: { described: Described }) {
  const chosen = types.find(({ name }) => name === query.value.get('type'));
  if (types.length === 0)
    return (
      <Empty
        text={t('No types yet')}
        hint={t('A type of schema.graphql with a field id is kept in a table.')}
      />
    );
  return (
    <>
      <ModelGraph types={types} />
      {chosen && <TypeRegion type={chosen} />}
      <TypeTable types={types} />
      <Panel name={t('SDL')}>
        <pre class="sdl" tabIndex={0}>
          {sdl}
        </pre>
      </Panel>
    </>
  );
}

/** One type with its columns, relations and rules. */
function TypeRegion({ type }: { type: DescribedType }) {
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

/** All types, those whose name, table, field or value has the searched text. */
function TypeTable({ types }: { types: readonly DescribedType[] }) {
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
