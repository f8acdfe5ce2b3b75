import { AppError } from '../errors.ts';

/** Something that the schema says and the database does not have like that. */
export interface Misfit {
  /** `Track`, `Track.name`: where the schema says it. */
  readonly coordinate: string;
  /** `music.Track`, `music.Track.Name` */
  readonly object: string;
  readonly expected: string;
  readonly found: string;
}

/** Every misfit of a database that others made. Nothing is served before all of them are mended. */
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
