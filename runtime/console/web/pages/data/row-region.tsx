import { setQuery } from '../../address.ts';
import { t } from '../../messages.ts';
import { CloseButton } from '../../parts/button.tsx';
import { Answer } from '../../parts/page.tsx';
import { useCall } from '../../parts/use-call.ts';
import type { Module, Relation } from '../../rest-modules.ts';
import { labelOfKey, moduleOf, relatedAddress, labelOf, typeAddress } from './view.ts';
import type { Row } from './staged.ts';
import { Value } from './value.tsx';

/** All fields of one row that the caller may read, with links to its related rows. */
export function RowRegion({ module, id }: { module: Module; id: string }) {
  const path = `${module.path}/${encodeURIComponent(id)}`;
  const labelled = useCall<Row>(path + includeOf(module));
  // The caller may not be allowed to read the labels of related rows. The row is then read without
  // them.
  const plain = useCall<Row>(labelled.error === null ? null : path);
  const row = labelled.error === null ? labelled : plain;
  const name = t('Row {id}', { id });
  return (
    <section class="row-region" aria-label={name}>
      <div class="dialog-head">
        <h2>{name}</h2>
        <CloseButton label={t('Close')} onClick={() => setQuery({ row: null })} />
      </div>
      <Answer of={row}>{(data) => <Members module={module} row={data} />}</Answer>
    </section>
  );
}

/** The related rows to read with the row, for their labels. */
function includeOf({ columns, relations }: Module): string {
  const one = relations.filter(
    ({ field, many, type }) =>
      !many && columns.some(({ keyOf }) => keyOf?.field === field) && moduleOf(type),
  );
  return one.length === 0 ? '' : `?include=${one.map(({ field }) => field).join(',')}`;
}

function Members({ module, row }: { module: Module; row: Row }) {
  const lists = module.relations.filter(({ many }) => many);
  return (
    <>
      <dl>
        {module.columns.map((column) => (
          <div key={column.name}>
            <dt>{column.name}</dt>
            <dd>
              {column.keyOf && row[column.name] != null ? (
                <RelatedLink keyOf={column.keyOf} row={row} id={String(row[column.name])} />
              ) : (
                <Value value={row[column.name]} whole />
              )}
            </dd>
          </div>
        ))}
      </dl>
      {lists.length > 0 && <h3>{t('Related rows')}</h3>}
      <ul>
        {lists.map((relation) => (
          <li key={relation.field}>
            <ListLink module={module} relation={relation} id={String(row['id'])} />
          </li>
        ))}
      </ul>
    </>
  );
}

function RelatedLink({
  keyOf,
  row,
  id,
}: {
  keyOf: { field: string; type: string };
  row: Row;
  id: string;
}) {
  const address = relatedAddress(keyOf, id);
  const label = labelOfKey(keyOf, row);
  return (
    <>
      {address === null ? id : <a href={address}>{id}</a>}
      {label !== null && <span class="label">{label}</span>}
    </>
  );
}

interface ListLinkProps {
  readonly module: Module;
  readonly relation: Relation;
  readonly id: string;
}

/** A link to the related rows, if their type can be filtered by this row. */
function ListLink({ module, relation, id }: ListLinkProps) {
  const other = moduleOf(relation.type);
  const keys = other?.columns.filter(({ keyOf }) => keyOf?.type === module.type) ?? [];
  const [key] = keys;
  // If the type has several keys, the OpenAPI document does not say which one the list follows.
  if (other && key && keys.length === 1 && key.words.includes('eq'))
    return <a href={typeAddress(other.plural, { [key.name]: id })}>{relation.field}</a>;
  return <Linked module={module} relation={relation} id={id} />;
}

/** Rows of a join table cannot be filtered from either side, so they are listed here. */
function Linked({ module, relation, id }: ListLinkProps) {
  const { field } = relation;
  const { data } = useCall<Row>(
    `${module.path}/${encodeURIComponent(id)}?fields=id&include=${encodeURIComponent(field)}`,
  );
  const rows = (data?.[field] as readonly Row[] | undefined) ?? [];
  const other = moduleOf(relation.type);
  const label = other ? labelOf(other) : null;
  return (
    <>
      {field}: {rows.length === 0 && data && <span class="quiet">{t('none')}</span>}
      {rows.map((row, index) => {
        const key = String(row['id']);
        const address = relatedAddress(relation, key);
        const text = label === null ? key : String(row[label] ?? key);
        return (
          <span key={key}>
            {index > 0 && ', '}
            {address === null ? text : <a href={address}>{text}</a>}
          </span>
        );
      })}
    </>
  );
}
