"""Every answer of an evaluation's JSON beside the last one, the memory's own, as a Markdown table."""

NAMES = {"base": "base", "temperature": "base, T fitted", "last-layer": "base, last layer fitted again", "knn": "k-NN",
         "knn-lm": "kNN-LM", "resmem": "ResMem", "blend": "blend", "logit-boost": "logit-boost"}


def interval(value, low, high, digits=2, scale=1):
    return f"{scale * value:+.{digits}f} ({scale * low:+.{digits}f} to {scale * high:+.{digits}f})"


def answers_table(judged, measure, show):
    """`judged`: what `resmem eval` or `lm eval` print as JSON.  The sweep over lambda is left out."""
    methods, last = judged["methods"], len(judged["methods"]) - 1
    own = NAMES[methods[last]["method"]]
    lines = [f"| answer | accuracy | {measure} | {own} less this, points | {own} less this, NLL |",
             "|---|--:|--:|--:|--:|"]
    pairs = {(pair["left"], pair["right"]): pair for pair in judged["pairs"]}
    for i, method in enumerate(methods):
        if i != last and ((i, last) not in pairs or method["method"] not in NAMES or method.get("own") is False):
            continue
        cells = [NAMES[method["method"]], f"{100 * method['accuracy']['value']:.2f} %", show(method["nll"]), "", ""]
        if i != last:
            pair = pairs[i, last]
            cells[3] = interval(pair["gain"]["gain"], pair["gain"]["low"], pair["gain"]["high"], scale=100)
            cells[4] = interval(-pair["nll_gain"], -pair["nll_high"], -pair["nll_low"], digits=4)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
