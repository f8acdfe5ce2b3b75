import { t } from '../../messages.ts';
import { type PlacedBox, cut, HEAD, LINE } from './graph-model.ts';

/** The address of this page with a type. The rest of it stays. */
export function linkOfType(name: string): string {
  const url = new URL(location.href);
  url.searchParams.set('type', name);
  return url.href;
}

interface GraphBoxProps {
  readonly box: PlacedBox;
  readonly link: string;
  /** Whether the box is an end of a highlighted line. */
  readonly near: boolean;
  setPointed(name: string | null): void;
  onFocus(): void;
}

/** A type: its name, and a line for each field. */
export function GraphBox({ box, link, near, setPointed, onFocus }: GraphBoxProps) {
  const { name, kind, x, y, width, height, lines, more } = box;
  return (
    <g transform={`translate(${x} ${y})`} class={`graph-box ${kind}${near ? ' near' : ''}`}>
      <rect class="box-ground" width={width} height={height} rx="6" />
      {height > HEAD && <path class="box-line" d={`M0 ${HEAD}H${width}`} />}
      <text class="box-name" x={12} y={20}>
        {cut(name)}
      </text>
      {lines.map((line, index) => (
        <FieldLine key={line.name} line={line} width={width} y={HEAD + 18 + index * LINE} />
      ))}
      {more > 0 && (
        <text class="box-more" x={12} y={HEAD + 18 + lines.length * LINE}>
          {t('{n} more', { n: more })}
        </text>
      )}
      {/* Above the texts, so that the name of the link is the type's and not that of each field. */}
      <a
        href={link}
        aria-label={name}
        onPointerEnter={() => setPointed(name)}
        onPointerLeave={() => setPointed(null)}
        onFocus={onFocus}
        onBlur={() => setPointed(null)}
      >
        <title>{kind === 'entity' ? name : `${kind} ${name}`}</title>
        <rect class="box-link" width={width} height={height} rx="6" />
      </a>
    </g>
  );
}

interface FieldLineProps {
  readonly line: PlacedBox['lines'][number];
  readonly width: number;
  readonly y: number;
}

const FieldLine = ({ line: { name, type, relation }, width, y }: FieldLineProps) => (
  <>
    <text class={relation ? 'box-relation' : 'box-field'} x={12} y={y}>
      {cut(name)}
    </text>
    <text class="box-type" x={width - 12} y={y} text-anchor="end">
      {cut(type, 18)}
    </text>
  </>
);
