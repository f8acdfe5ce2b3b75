/** The console: where it answers, and whom it lets in. */
export interface ConsoleModel {
  readonly path: string;
  readonly enabled: 'always' | 'development' | 'never';
  /** Whether the operator may enter. */
  readonly host: boolean;
  /** When `/api/data` reaches every row. */
  readonly adminData: 'always' | 'development' | 'never';
  /** What each role may do there: permissions by name of the role. */
  readonly roles: Readonly<Record<string, readonly string[]>>;
  /** What the manifest of the project says, for the page `Settings`. */
  readonly manifest: Readonly<Record<string, unknown>>;
}
