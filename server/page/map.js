// The map: up to 200,000 points written straight into pixels; wheel, drag, pinch and keys move it.
import {el} from "./dom.js";
import {Grid} from "./grid.js";

const REACH = 10;  // pixels around the pointer in which a point is found

// Into -1 .. 1 both ways, with the same scale.
function normalize(x, y) {
  const range = (values) => {
    let low = Infinity, high = -Infinity;
    for (const value of values) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
    return [low, high];
  };
  const [left, right] = range(x), [bottom, top] = range(y);
  const half = Math.max(right - left, top - bottom, 1e-12) / 2;
  return [
    x.map((value) => (value - (left + right) / 2) / half),
    y.map((value) => ((bottom + top) / 2 - value) / half)
  ];
}

export class PointMap {
  constructor(onSelect, describe) {
    this.onSelect = onSelect;
    this.canvas = el("canvas", {
      class: "map",
      tabindex: "0",
      role: "application",
      "aria-label":
          "Map of the memory. Arrows move, plus and minus zoom, 0 shows all, Enter chooses the row in the middle."
    });
    this.tip = el("div", {class: "tip", hidden: true});
    this.element = el("div", {class: "map-holder"}, this.canvas, this.tip);
    this.describe = describe;
    this.x = this.y = new Float32Array();
    this.marked = [];
    this.chosen = -1;
    this.view = {zoom: 1, x: 0, y: 0};
    this.pointers = new Map();
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  setPoints(points, colors) {
    [this.x, this.y] = normalize(points.x, points.y);
    this.grid = new Grid(this.x, this.y);
    this.colors = colors;
    this.marked = [];
    this.chosen = -1;
    this.reset();
  }
  setColors(colors) {
    this.colors = colors;
    this.draw();
  }
  reset() {
    this.view = {zoom: 1, x: 0, y: 0};
    this.draw();
  }

  // `neighbors`: points to be ringed beside the chosen one.
  choose(point, neighbors = []) {
    this.chosen = point;
    this.marked = neighbors;
    const [x, y] = this.toScreen(point);
    const {width, height} = this.canvas;
    if (x < 0 || y < 0 || x > width || y > height)
      [this.view.x, this.view.y] = [this.x[point], this.y[point]];
    this.draw();
  }

  // Device pixels of a unit of the map.
  scale() {
    return (this.view.zoom * Math.min(this.canvas.width, this.canvas.height)) / 2 / 1.05;
  }
  toScreen(i) {
    const scale = this.scale();
    return [
      (this.x[i] - this.view.x) * scale + this.canvas.width / 2,
      (this.y[i] - this.view.y) * scale + this.canvas.height / 2
    ];
  }
  toMap(clientX, clientY) {
    const box = this.canvas.getBoundingClientRect();
    const ratio = this.canvas.width / box.width, scale = this.scale();
    return [
      ((clientX - box.left) * ratio - this.canvas.width / 2) / scale + this.view.x,
      ((clientY - box.top) * ratio - this.canvas.height / 2) / scale + this.view.y
    ];
  }

  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  }

  paint() {
    const {canvas} = this;
    const ratio = Math.min(2, devicePixelRatio || 1);
    const [width, height] =
        [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
    if (width === 0 || height === 0) return;
    if (canvas.width !== width || canvas.height !== height)
      [canvas.width, canvas.height] = [width, height];
    const context = canvas.getContext("2d");
    const image = context.createImageData(width, height);
    this.paintPoints(new Uint32Array(image.data.buffer), width, height, ratio);
    context.putImageData(image, 0, 0);
    this.paintRings(context, ratio);
  }

  paintPoints(pixels, width, height, ratio) {
    const scale = this.scale();
    const size = Math.round(
        ratio *
        Math.min(
            6,
            (this.x.length > 50_000    ? 1 :
                 this.x.length > 5_000 ? 2 :
                                         3) +
                Math.log2(this.view.zoom)));
    const offset = size >> 1;
    for (let i = 0; i < this.x.length; ++i) {
      const left = Math.round((this.x[i] - this.view.x) * scale + width / 2) - offset;
      const top = Math.round((this.y[i] - this.view.y) * scale + height / 2) - offset;
      if (left < 0 || top < 0 || left + size > width || top + size > height) continue;
      const color = this.colors[i];
      for (let row = top * width + left, end = row + size * width; row < end; row += width) {
        for (let at = row; at < row + size; ++at) pixels[at] = color;
      }
    }
  }

  paintRings(context, ratio) {
    const ink = getComputedStyle(document.documentElement).getPropertyValue("--ink");
    const paper = getComputedStyle(document.documentElement).getPropertyValue("--paper");
    const ring = (i, radius, width) => {
      for (const [color, extra] of [[paper, 2], [ink, 0]]) {
        context.beginPath();
        context.arc(...this.toScreen(i), radius * ratio, 0, 2 * Math.PI);
        context.strokeStyle = color;
        context.lineWidth = (width + extra) * ratio;
        context.stroke();
      }
    };
    for (const i of this.marked) ring(i, 5, 1);
    if (this.chosen >= 0) ring(this.chosen, 9, 2.5);
  }

  zoomAt(clientX, clientY, factor) {
    const [x, y] = this.toMap(clientX, clientY);
    const zoom = Math.max(0.5, Math.min(500, this.view.zoom * factor));
    const kept = this.view.zoom / zoom;
    this.view = {zoom, x: x + (this.view.x - x) * kept, y: y + (this.view.y - y) * kept};
    this.tip.hidden = true;
    this.draw();
  }
  zoomMiddle(factor) {
    const box = this.canvas.getBoundingClientRect();
    this.zoomAt(box.left + box.width / 2, box.top + box.height / 2, factor);
  }
  pan(dx, dy) {
    const ratio = this.canvas.width / this.canvas.clientWidth;
    this.view.x -= (dx * ratio) / this.scale();
    this.view.y -= (dy * ratio) / this.scale();
    this.draw();
  }

  find(clientX, clientY, reach = REACH) {
    if (!this.grid) return -1;
    const ratio = this.canvas.width / this.canvas.clientWidth;
    return this.grid.nearest(...this.toMap(clientX, clientY), (reach * ratio) / this.scale());
  }

  hover(event) {
    const i = this.find(event.clientX, event.clientY);
    this.tip.hidden = i < 0;
    if (i < 0) return;
    const box = this.canvas.getBoundingClientRect();
    this.tip.textContent = this.describe(i);
    this.tip.style.left = `${Math.min(event.clientX - box.left + 12, box.width - 180)}px`;
    this.tip.style.top = `${event.clientY - box.top + 12}px`;
  }

  // One pointer drags, two pinch.
  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return this.hover(event);
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId);
    if (others.length === 0)
      this.pan(event.clientX - before.x, event.clientY - before.y);
    else {
      const other = others[0][1];
      const span = (a) => Math.max(1, Math.hypot(a.x - other.x, a.y - other.y));
      const now = {x: event.clientX, y: event.clientY};
      this.zoomAt((now.x + other.x) / 2, (now.y + other.y) / 2, span(now) / span(before));
    }
    this.moved += Math.abs(event.clientX - before.x) + Math.abs(event.clientY - before.y);
    this.pointers.set(event.pointerId, {x: event.clientX, y: event.clientY});
    return undefined;
  }

  listen() {
    const {canvas} = this;
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoomAt(event.clientX, event.clientY, Math.exp(-event.deltaY / 400));
    }, {passive: false});
    canvas.addEventListener("pointerdown", (event) => {
      if (this.pointers.size === 0) this.moved = 0;
      canvas.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, {x: event.clientX, y: event.clientY});
    });
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => {
      this.pointers.delete(event.pointerId);
      if (this.moved > 5) return;
      const i = this.find(event.clientX, event.clientY);
      if (i >= 0) this.onSelect(i);
    });
    canvas.addEventListener("pointercancel", (event) => this.pointers.delete(event.pointerId));
    canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    canvas.addEventListener("keydown", (event) => this.press(event));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.recolor?.());
  }

  press(event) {
    const step = 60;
    const keys = {
      ArrowLeft: () => this.pan(step, 0),
      ArrowRight: () => this.pan(-step, 0),
      ArrowUp: () => this.pan(0, step),
      ArrowDown: () => this.pan(0, -step),
      "+": () => this.zoomMiddle(1.5),
      "=": () => this.zoomMiddle(1.5),
      "-": () => this.zoomMiddle(1 / 1.5),
      0: () => this.reset(),
      Enter: () => {
        const box = this.canvas.getBoundingClientRect();
        const i = this.find(box.left + box.width / 2, box.top + box.height / 2, box.width);
        if (i >= 0) this.onSelect(i);
      },
    };
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  }
}
