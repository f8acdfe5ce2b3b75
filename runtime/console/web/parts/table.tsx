import type { ComponentChildren } from 'preact';
import { query, setQuery } from '../address.ts';
import { Failure } from './failure.tsx';
import { Skeleton } from './page.tsx';
import { type Sorted, sortedRows } from './sorted-rows.ts';
import type { Called } from './use-call.ts';

/** A column of a table. */
export interface Column<Row> {
  /** The name of the column in the address, when rows are sorted by it. */
  readonly id: string;
  readonly title: string;
  render(row: Row): ComponentChildren;
  /**
   * `server`: the page sends the parameters `sort` and `order` of the address. A function: the rows
   * are sorted in the browser, by its value.
   */
  readonly sort?: 'server' | ((row: Row) => string | number | null);
  /** Numbers are aligned at the end of their column. */
  readonly align?: 'end';
  /** `fit` is as narrow as its content; `wrap` breaks long texts. */
  readonly width?: 'fit' | 'wrap';
}

interface TableProps<Row> {
  /** The name of the table. */
  readonly name: string;
  readonly columns: readonly Column<Row>[];
  /** Undefined while the first answer is on its way. */
  readonly rows: readonly Row[] | undefined;
  keyOf(row: Row): string | number;
  /**
   * The address that a row links to. The first column is the link, and a click anywhere in the row
   * follows it.
   */
  readonly linkOf?: (row: Row) => string | undefined;
  /** The call whose answer has the rows. */
  readonly of?: Pick<Called<unknown>, 'loading' | 'error'> & { reload?(): void };
  /** Shown when there are no rows: an `Empty`. */
  readonly empty?: ComponentChildren;
  /** The parameter of the address that names the sorted column: `sort` when it is left out. */
  readonly sortParameter?: string;
}

/**
 * A table with a name, in a box that scrolls. The address contains the sorting (`sort`, `order`).
 *
 * @example
 * <Table name={t('Apps')} rows={apps.data?.list} keyOf={({ name }) => name}
 *   linkOf={({ name }) => `${base}/apps/${name}`}
 *   columns={[{ id: 'name', title: t('Name'), render: ({ name }) => name, sort: ({ name }) => name }]}
 *   of={apps} empty={<Empty text={t('No apps yet')} />} />
 */
export function Table<Row>(props: TableProps<Row>) {
  const { name, columns, rows, of, empty, sortParameter = 'sort' } = props;
  const error = of?.error ?? null;
  const sorted = sortedBy(sortParameter);
  return (
    <div class="answer" aria-busy={of?.loading === true}>
      {error !== null && <Failure error={error} {...(of?.reload && { again: of.reload })} />}
      {rows === undefined && error === null && <Skeleton />}
      {rows?.length === 0 && empty}
      {rows && (rows.length > 0 || empty === undefined) && (
        <div class="scroll" role="group" aria-label={name} tabIndex={0}>
          <table aria-label={name}>
            <thead>
              <tr>
                {columns.map((column) => (
                  <Header key={column.id} {...{ column, sorted, sortParameter }} />
                ))}
              </tr>
            </thead>
            <tbody>
              {sortedRows(rows, columns, sorted).map((row) => (
                <TableRow key={props.keyOf(row)} {...props} row={row} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}

function sortedBy(parameter: string): Sorted {
  const by = query.value.get(parameter);
  return { by, descending: query.value.get(orderOf(parameter)) === 'desc' };
}

/** The name of the parameter for the direction. A second sorted table on a page needs its own. */
const orderOf = (parameter: string) => (parameter === 'sort' ? 'order' : `${parameter}-order`);

const NEXT = { none: 'ascending', ascending: 'descending', descending: 'none' } as const;

interface HeaderProps<Row> {
  readonly column: Column<Row>;
  readonly sorted: Sorted;
  readonly sortParameter: string;
}

function Header<Row>({ column, sorted, sortParameter }: HeaderProps<Row>) {
  if (column.sort === undefined)
    return (
      <th scope="col" class={classOf(column)}>
        {column.title}
      </th>
    );
  const direction = sorted.descending ? 'descending' : 'ascending';
  const now = sorted.by === column.id ? direction : 'none';
  const turn = () => {
    const next = NEXT[now];
    setQuery({
      [sortParameter]: next === 'none' ? null : column.id,
      [orderOf(sortParameter)]: next === 'descending' ? 'desc' : null,
      page: null,
      cursor: null,
    });
  };
  return (
    <th scope="col" aria-sort={now} class={classOf(column)}>
      <button type="button" onClick={turn}>
        {column.title}
        <span class="arrow" aria-hidden="true" />
      </button>
    </th>
  );
}

function TableRow<Row>({ row, columns, linkOf }: TableProps<Row> & { readonly row: Row }) {
  const link = linkOf?.(row);
  return (
    <tr class={link === undefined ? undefined : 'linked'} onClick={link ? followRow : undefined}>
      {columns.map((column, index) => (
        <td key={column.id} class={classOf(column)}>
          {index === 0 && link !== undefined ? (
            <a href={link}>{column.render(row)}</a>
          ) : (
            column.render(row)
          )}
        </td>
      ))}
    </tr>
  );
}

const classOf = ({ align, width }: Pick<Column<never>, 'align' | 'width'>) =>
  [align, width].filter(Boolean).join(' ') || undefined;

/**
 * Follows the row's link after a click beside it, unless the click was on a control or text is
 * selected.
 */
function followRow(event: MouseEvent): void {
  const row = event.currentTarget as HTMLElement;
  const own = (event.target as Element).closest('a, button, input, select, label, summary');
  if ((own && row.contains(own)) || getSelection()?.toString()) return;
  const { ctrlKey, metaKey, shiftKey } = event;
  const click = { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey };
  row.querySelector('a')?.dispatchEvent(new MouseEvent('click', click));
}
