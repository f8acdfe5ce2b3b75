/** A mistake in one of the two files, and the finding that it makes. */
export interface Case {
  readonly code: string;
  readonly sdl: string;
  readonly manifest?: string;
  /** Place of the finding; of the manifest when it starts with `m`. */
  readonly at: string;
  readonly fix?: string;
  readonly severity?: 'warning' | 'hint';
  /** Other findings that belong to the same mistake. */
  readonly also?: readonly string[];
}
