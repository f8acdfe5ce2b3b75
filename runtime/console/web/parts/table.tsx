import type { ComponentChildren, VNode } from 'preact';
import { query, setQuery } from '../address.ts';
import { t } from '../messages.ts';
import { Button } from './button.tsx';
import { Failure, Empty, Skeleton } from './page.tsx';
import { type Sorted, sortedRows } from './sorted-rows.ts';
import { Time } from './time.tsx';
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

/** Columns; in place of one that the caller does not get stands false or null. */
export type Columns<Row> = readonly (Column<Row> | false | null)[];

interface TableProps<Row> {
  /** The name of the table. */
  readonly name: string;
  readonly columns: Columns<Row>;
  /** Undefined while the first answer is on its way. */
  readonly rows: readonly Row[] | undefined;
  /** What tells a row from the others: its `id` when it is left out. */
  readonly keyOf?: (row: Row) => string | number;
  /**
   * The address that a row links to. The first column is the link, and a click anywhere in the row
   * follows it.
   */
  readonly linkOf?: (row: Row) => string | undefined;
  /** The call whose answer has the rows. */
  readonly of?: Pick<Called<unknown>, 'loading' | 'error'> & { reload?(): void };
  /** Shown when there are no rows: what is missing and a hint, or an `Empty`. */
  readonly empty?: readonly [text: string, hint: string] | VNode;
  /** The parameter of the address that names the sorted column: `sort` when it is left out. */
  readonly sortParameter?: string;
}

/**
 * A table with a name, in a box that scrolls. The address contains the sorting (`sort`, `order`).
 *
 * @example
 * <Table name={t('Apps')} rows={apps.data?.list} linkOf={({ name }) => `${base}/apps/${name}`}
 *   keyOf={({ name }) => name}
 *   columns={[{ id: 'name', title: t('Name'), render: ({ name }) => name, sort: ({ name }) => name }]}
 *   of={apps} empty={[t('No apps yet'), t('An app is …')]} />
 */
export function Table<Row>(props: TableProps<Row>) {
  const { name, rows, of, empty, sortParameter = 'sort' } = props;
  const columns = props.columns.filter((column) => column !== false && column !== null);
  const { keyOf = idOf, linkOf } = props;
  const error = of?.error ?? null;
  const sorted = sortedBy(sortParameter);
  return (
    <div class="answer" aria-busy={of?.loading === true}>
      {error !== null && <Failure error={error} {...(of?.reload && { again: of.reload })} />}
      {rows === undefined && error === null && <Skeleton />}
      {rows?.length === 0 && (isTexts(empty) ? <Empty text={empty[0]} hint={empty[1]} /> : empty)}
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
                <TableRow key={keyOf(row)} {...{ row, columns, linkOf }} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}

const idOf = (row: unknown) => (row as { readonly id: string | number }).id;

const isTexts = (empty: TableProps<unknown>['empty']) => Array.isArray(empty);

type Timed<Name extends string> = Readonly<Record<Name, string | number | null>>;

/** A column of times. */
export const timeColumn = <Name extends string>(
  id: Name,
  title: string,
  more: Pick<Column<Timed<Name>>, 'sort' | 'width'> = {},
): Column<Timed<Name>> => ({
  id,
  title,
  render: (row) => <Time at={row[id]} />,
  ...more,
});

/** The column of the buttons of a row. */
export const actionsColumn = <Row,>(render: Column<Row>['render']): Column<Row> => ({
  id: 'actions',
  title: t('Actions'),
  width: 'fit',
  render,
});

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
      <Button onClick={turn}>
        {column.title}
        <span class="arrow" aria-hidden="true" />
      </Button>
    </th>
  );
}

interface TableRowProps<Row> {
  readonly row: Row;
  readonly linkOf: TableProps<Row>['linkOf'];
  readonly columns: readonly Column<Row>[];
}

function TableRow<Row>({ row, columns, linkOf }: TableRowProps<Row>) {
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
