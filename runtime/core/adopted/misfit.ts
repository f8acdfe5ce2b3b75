import { AppError } from '../errors.ts';

/** A difference between the schema and the tables of a database that another program made. */
export interface Misfit {
  /** The coordinate in the schema: `Track`, `Track.name`. */
  readonly coordinate: string;
  /** `music.Track`, `music.Track.Name` */
  readonly object: string;
  readonly expected: string;
  readonly found: string;
}

/**
 * All differences between the schema and a database that another program made. The server does not
 * start before they are removed.
 */
export class CatalogMismatch extends AppError {
  readonly misfits: readonly Misfit[];

  constructor(misfits: readonly Misfit[], lineOf: LineOf = () => undefined) {
    super(500, 'CATALOG_MISMATCH', misfits.map((each) => describe(each, lineOf)).join('\n'), {
      extensions: { misfits },
    });
    this.misfits = misfits;
  }
}

/** `schema.graphql:12` of a coordinate, where the schema's text is at hand. */
export type LineOf = (coordinate: string) => string | undefined;

function describe({ coordinate, object, expected, found }: Misfit, lineOf: LineOf): string {
  const line = lineOf(coordinate);
  return `CATALOG_MISMATCH ${line === undefined ? '' : `${line} `}${coordinate}: ${object}: expected ${expected}, found ${found}`;
}
