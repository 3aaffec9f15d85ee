// Which point is near: points sorted into cells of a square grid.

const CELLS = 256;

export class Grid {
  constructor(x, y) {
    this.x = x;
    this.y = y;
    this.cell = new Uint32Array(x.length);
    this.begin = new Uint32Array(CELLS * CELLS + 1);
    for (let i = 0; i < x.length; ++i) {
      this.cell[i] = this.at(y[i]) * CELLS + this.at(x[i]);
      ++this.begin[this.cell[i] + 1];
    }
    for (let c = 0; c < CELLS * CELLS; ++c) this.begin[c + 1] += this.begin[c];
    this.order = new Uint32Array(x.length);
    const next = this.begin.slice(0, -1);
    for (let i = 0; i < x.length; ++i) this.order[next[this.cell[i]]++] = i;
  }

  // Coordinates lie in -1 .. 1.
  at(value) {
    return Math.max(0, Math.min(CELLS - 1, Math.floor(((value + 1) / 2) * CELLS)));
  }

  // The point nearest to (x, y), at most `reach` away; -1 where there is none.
  nearest(x, y, reach) {
    let best = -1, least = reach * reach;
    for (let row = this.at(y - reach); row <= this.at(y + reach); ++row) {
      const first = this.begin[row * CELLS + this.at(x - reach)];
      const last = this.begin[row * CELLS + this.at(x + reach) + 1];
      for (let k = first; k < last; ++k) {
        const i = this.order[k];
        const distance = (this.x[i] - x) ** 2 + (this.y[i] - y) ** 2;
        if (distance <= least) [best, least] = [i, distance];
      }
    }
    return best;
  }
}
