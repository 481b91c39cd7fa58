// Where each row of a long list begins, when most heights are only guessed. Pure.

/** The tops of all rows, and the whole height as the last number. */
export function offsetsOf(count: number, heightAt: (index: number) => number): Float64Array {
  const offsets = new Float64Array(count + 1);
  let top = 0;
  for (let index = 0; index < count; index += 1) {
    offsets[index] = top;
    top += heightAt(index);
  }
  offsets[count] = top;
  return offsets;
}

/** The index of the row that covers `top`, within the list. */
export function indexAt(offsets: Float64Array, top: number): number {
  let low = 0;
  let high = offsets.length - 2;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((offsets[middle] ?? 0) <= top) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}

export interface Span {
  /** The first row to draw. */
  from: number;
  /** The row after the last one to draw. */
  to: number;
}

/** The rows that touch the part of the list between `top` and `bottom`. */
export function spanBetween(offsets: Float64Array, top: number, bottom: number): Span {
  const count = offsets.length - 1;
  if (count === 0) return { from: 0, to: 0 };
  return { from: indexAt(offsets, Math.max(0, top)), to: Math.min(count, indexAt(offsets, bottom) + 1) };
}
