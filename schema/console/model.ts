/** The console: its path, and who may use it. */
export interface ConsoleModel {
  readonly path: string;
  readonly enabled: 'always' | 'development' | 'never';
  /** Whether the operator may enter. */
  readonly host: boolean;
  /** When `/api/data` can reach every row. */
  readonly adminData: 'always' | 'development' | 'never';
  /** The permissions in the console, by name of the role. */
  readonly roles: Readonly<Record<string, readonly string[]>>;
  /** The folder of the project's own pages, and those of its files; absent without any. */
  readonly ownPages?: { readonly folder: string; readonly list: readonly ConsoleOwnPage[] };
  /**
   * The values of the project's manifest, for the page `Settings`. Absent in an emitted project,
   * whose server reads the file.
   */
  readonly manifest?: Readonly<Record<string, unknown>>;
}

/** A page of the project's own, as its file defines it. */
export interface ConsoleOwnPage {
  readonly title: string;
  /** The path below `pages/`. */
  readonly path: string;
  readonly permission: string | null;
  /** Relative to the project: `src/console/sales.ts`. */
  readonly file: string;
}
