/**
 * `@twofold/console`: what pages of one's own import. These are the types; in a browser the console
 * serves the functions. Node has no page to show, so here each of them fails.
 */

/** The result of `html`, which a component shows. */
export interface Markup {
  readonly markup: 'markup';
}

/** A part of a page: `html`<${Table} name="Orders" rows=${rows} />``. */
export type Component<Props> = (props: Props) => Markup | null;

/** Values that a component can contain. */
export type Content = Markup | string | number | boolean | null | undefined | readonly Content[];

/** The user who looks at the page. */
export interface Caller {
  readonly kind: 'host' | 'user';
  readonly id: string | null;
  readonly name: string | null;
  readonly email: string | null;
  readonly role: string | null;
  readonly permissions: readonly string[];
}

export interface PageInput {
  /** The values of the path's parameters: `id` of `orders/:id`. */
  readonly params: Readonly<Record<string, string>>;
  /** The query parameters of the address. */
  readonly query: Readonly<Record<string, string>>;
  readonly caller: Caller;
}

/** A page of the console. */
export interface OwnPage {
  /** Its name in the navigation, and its heading. */
  readonly title: string;
  /**
   * The path below `pages/`: `sales`. A path with a parameter, such as `orders/:id`, is not in the
   * navigation.
   */
  readonly path: string;
  /** The permission that it needs. Without one, every user who may enter the console has it. */
  readonly permission?: string;
  /**
   * Called again after each change of the data that it uses. Hooks (`useQuery`) may be called here.
   */
  render(input: PageInput): Content;
}

/** An answer on its way, there, or refused. */
export interface Called<Answer> {
  readonly data: Answer | undefined;
  /** The server's message; null when there is no problem. */
  readonly error: string | null;
  readonly loading: boolean;
  reload(): void;
}

/** A refusal of the server, as `call` throws it. */
export interface ApiFailure extends Error {
  readonly name: 'ApiError';
  readonly status: number;
  readonly error: string;
  readonly requestId: string | null;
}

/** A question before something is deleted or ended. */
export interface Question {
  /** What would be lost, by name and number. */
  readonly text: string;
  /** The verb of the button. */
  readonly action: string;
  /** A name that must be typed first. */
  readonly typed?: string;
}

/** A column: the name of a field, or how it is shown. */
export type TableColumn<Row> =
  | string
  | {
      readonly id: string;
      readonly title?: string;
      readonly render?: (row: Row) => Content;
      readonly align?: 'end';
    };

export interface TableProps<Row> {
  readonly name: string;
  readonly rows: readonly Row[] | undefined;
  readonly columns: readonly TableColumn<Row>[];
  readonly loading?: boolean;
  readonly error?: string | null;
  /** The action of the button `Try again`. */
  readonly again?: () => void;
  /** The text when there are no rows. */
  readonly empty?: string;
  /** The address that a row links to. */
  readonly linkOf?: (row: Row) => string;
}

export interface PlotProps {
  readonly name: string;
  readonly series: readonly {
    readonly name: string;
    readonly unit: string;
    /** Seconds since 1970, and the value; null where there is none. */
    readonly points: readonly (readonly [time: number, value: number | null])[];
  }[];
  /** Pixels. */
  readonly height?: number;
}

export interface LogViewProps {
  readonly name?: string;
  readonly lines: readonly {
    readonly id: string;
    readonly text: string;
    readonly time?: string | null;
    readonly level?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | null;
  }[];
  /** The text when there are no lines. */
  readonly empty?: string;
}

export interface EditorProps {
  /** Its accessible name. */
  readonly label: string;
  readonly value: string;
  readonly change: (text: string) => void;
  readonly language?: 'json' | 'graphql' | 'text';
}

export interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  readonly size?: 'small' | 'wide';
  readonly children?: Content;
}

export interface ButtonProps {
  readonly onClick: () => unknown;
  readonly tone?: 'plain' | 'primary' | 'danger';
  readonly disabled?: boolean;
  readonly children?: Content;
}

export interface FieldProps {
  readonly label: string;
  /** The name in the form's data. */
  readonly name: string;
  readonly type?: string;
  readonly required?: boolean;
  readonly hint?: string;
  readonly error?: string | null;
}

export interface TabsProps {
  readonly label: string;
  readonly tabs: readonly {
    readonly id: string;
    readonly title: string;
    readonly render: () => Content;
  }[];
}

const inBrowser = (): never => {
  throw new Error(
    '@twofold/console works in a browser only: import it in files below console.pages, which the server serves',
  );
};

/**
 * Defines a page: the default export of a file at the top of `console.pages`.
 *
 * @example export default definePage({ title: 'Sales', path: 'sales', render: () => html`<p>…</p>` });
 */
export const definePage = (page: OwnPage): OwnPage => page;

/** Markup as one writes it; values are text, components and handlers: `html`<b>${name}</b>``. */
export const html: (strings: TemplateStringsArray, ...values: readonly unknown[]) => Markup =
  inBrowser;

/**
 * Reads a path of the server while the page is shown: `useQuery<Orders>('/api/orders?limit=50')`.
 */
export const useQuery: <Answer = any>(path: string | null) => Called<Answer> = inBrowser;

/** Runs a GraphQL query while the page is shown; `data` is its data. */
export const useGraphql: <Answer = any>(
  query: string,
  variables?: Readonly<Record<string, unknown>>,
) => Called<Answer> = inBrowser;

/** Calls this server as the user who is signed in, with JSON. @throws ApiFailure */
export const call: <Answer = any>(method: string, path: string, body?: unknown) => Promise<Answer> =
  inBrowser;

/** Goes to another address of the console. */
export const navigate: (to: string) => void = inBrowser;

/** A text with values: `t('{n} orders', { n })`. */
export const t: (text: string, values?: Readonly<Record<string, string | number>>) => string =
  inBrowser;

/** Shows a message that an action was done. */
export const notify: (text: string) => void = inBrowser;

/** Asks before something is deleted or ended. */
export const confirm: (question: Question) => Promise<boolean> = inBrowser;

/** A named table of rows. @example html`<${Table} name="Orders" rows=${rows} columns=${['id', 'total']} />` */
export const Table: Component<TableProps<any>> = inBrowser;
/** Figures over time. @example html`<${Plot} name="Sales" series=${[{ name: 'total', unit: '', points }]} />` */
export const Plot: Component<PlotProps> = inBrowser;
/** A log. Only the visible lines are in the document. */
export const LogView: Component<LogViewProps> = inBrowser;
/** A value as indented JSON. */
export const Json: Component<{ readonly value: unknown }> = inBrowser;
/** A text editor. */
export const Editor: Component<EditorProps> = inBrowser;
/** A dialog over the page. It is open as long as it is rendered. */
export const Dialog: Component<DialogProps> = inBrowser;
/**
 * A button. `primary` is for the main action of a page, `danger` for an action that deletes or ends
 * something.
 */
export const Button: Component<ButtonProps> = inBrowser;
/** An input with its label, hint and error, for a `<form>`. */
export const Field: Component<FieldProps> = inBrowser;
/** Tabs of a page, one of which is visible. The address contains its id: `?tab=open`. */
export const Tabs: Component<TabsProps> = inBrowser;
/** Says that something is missing, with an action that adds it. */
export const Empty: Component<{
  readonly text: string;
  readonly hint?: string;
  readonly children?: Content;
}> = inBrowser;
/** Shows an error, with the button `Try again`. */
export const Failure: Component<{ readonly error: string; readonly again: () => void }> = inBrowser;
